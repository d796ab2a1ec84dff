"""Exported modules, run in a process of their own where there is no materiac."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from recorded import Recorded, random, shipped
from samples import FEATURES, compiled, loadout

from materiac.export import python_module

_ALONE = """
import importlib, json, sys
sys.modules["materiac"] = None
sys.path.insert(0, ".")
told = []
for name, outputs in json.load(sys.stdin).items():
    module = importlib.import_module(name)
    def perform(socket, context):
        given = outputs.get(socket, [])
        if len(given) < context["visit"]:
            raise module.Failed("output", "nothing more is scripted")
        return given[context["visit"] - 1]
    cast = module.Cast(perform, "a request").run()
    kind = cast.failure.kind if cast.failure else None
    told.append([cast.status, kind, cast.path, cast.items, cast.state, dict(cast.visits)])
print(json.dumps(told))
"""


def alone(folder: Path, modules: dict[str, tuple[str, dict[str, list[Any]]]]) -> list[Any]:
    """Run modules by name, each with the outputs of its sockets."""
    for name, (source, _) in modules.items():
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    outputs = json.dumps({name: given for name, (_, given) in modules.items()})
    command = [sys.executable, "-W", "error", "-c", _ALONE]
    done = subprocess.run(
        command, input=outputs, cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    told: list[Any] = json.loads(done.stdout)
    return told


def wanted(recorded: Recorded) -> list[Any]:
    result = recorded.result
    kind = "output" if recorded.kind == "output-limit" else recorded.kind
    return [result["status"], kind, result["path"], result["items"], result["data"], result["visits"]]


def test_modules_go_the_way_of_the_casts(tmp_path: Path) -> None:
    recorded = [r for r in (*shipped(), *random(range(40))) if r.result["status"] != "waiting"]
    assert len(recorded) > 20
    assert {"stalled", "edge-limit"} <= {r.kind for r in recorded}
    modules = {f"m{n}": (python_module.render(r.image), r.outputs) for n, r in enumerate(recorded)}
    for one, told in zip(recorded, alone(tmp_path, modules), strict=True):
        assert (one.name, told) == (one.name, wanted(one))


def test_texts_are_read_and_what_is_no_object_fails(tmp_path: Path) -> None:
    source = python_module.render(compiled(FEATURES["work"]))
    plan = '{"workItems": []}'
    modules: dict[str, tuple[str, dict[str, list[Any]]]] = {
        "read": (source, {"plan": [plan], "tell": ["done"]}),
        "no_object": (source, {"plan": ["[]"]}),
        "lacking": (source, {"plan": [{"context": "none"}]}),
        "wrong": (source, {"plan": [{"workItems": 1}]}),
    }
    read, *failed = alone(tmp_path, modules)
    assert read[:3] == ["complete", None, ["plan", "tell"]]
    assert [told[:3] for told in failed] == [["failed", "output", ["plan"]]] * 3


def test_parameters_are_handed_over_whole(tmp_path: Path) -> None:
    params: dict[str, Any] = {"deep": {"empty": [], "nothing": None, "no": False}}
    config = loadout({"a": {"materia": "U"}}, materia={"U": {"command": ["x"], "params": params}})
    (tmp_path / "m.py").write_text(python_module.render(compiled(config)), encoding="utf-8")
    code = "import m, json; print(json.dumps(m.PROGRAM['materia']['U']['utility']['params']))"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == params
