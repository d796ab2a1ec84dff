"""The cases of the language, in process: one loadout each, scripted answers, and what must come of it.

`config` (or `configText`, where it is no JSON) is the file, `loadout` the one to run, `request` the request,
`agent` the script of the answers. Of `expect`, `status` is complete, failed, waiting or invalid; `path`,
`items`, `visits`, `failure` (the kind) and `data` (the keys that are named) are compared as they are, and
`prompts` says by `socket#visit` what a prompt has and lacks. `older` is information and no expectation.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from materiac.agents import choose
from materiac.cli.loading import bundled
from materiac.diagnostic import Severity
from materiac.pipeline import Text, check, compile_loadout
from materiac.runtime.run import Order, run

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))
Case = dict[str, Any]


@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_case(file: Path, tmp_path: Path) -> None:
    case: Case = json.loads(file.read_text(encoding="utf-8"))
    text = case["configText"] if "configText" in case else json.dumps(case["config"], ensure_ascii=False)
    texts = [*bundled(), Text("loadout.json", text.encode())]
    if case["expect"]["status"] == "invalid":
        found = check(texts, case.get("loadout"))
        assert any(part.finding.severity is Severity.ERROR for part in found)
        assert compile_loadout(texts, case.get("loadout")).image is None
    else:
        assert _misfits(case, texts, tmp_path) == []


def _misfits(case: Case, texts: list[Text], cwd: Path) -> list[str]:
    compiled = compile_loadout(texts, case.get("loadout"))
    assert compiled.image is not None, [part.finding.message for part in compiled.findings]
    script = cwd / "agent.json"
    script.write_text(json.dumps(case.get("agent") or {}), encoding="utf-8")
    order = Order(
        image=compiled.image,
        request=case.get("request") or "a request",
        agent=choose.make(f"scripted:{script}"),
        cwd=cwd,
        artifacts=cwd / "casts",
        environ=dict(os.environ),
    )
    result = run(order)
    return [*_outcome(case["expect"], result.as_data()), *_prompts(case["expect"], result.folder)]


def _outcome(expect: Case, got: Case) -> list[str]:
    have = {**got, "failure": (got["failure"] or {}).get("kind")}
    have["data"] = {key: value for key, value in got["data"].items() if key in expect.get("data", {})}
    compared = ("status", "path", "items", "visits", "failure", "data")
    return [
        f"{key}: expected {expect[key]}, got {have[key]}"
        for key in compared
        if key in expect and have[key] != expect[key]
    ]


def _prompts(expect: Case, folder: Path) -> list[str]:
    misfits = []
    for prompt, wanted in expect.get("prompts", {}).items():
        socket, visit = prompt.rsplit("#", 1)
        body = (folder / "contexts" / socket / f"{visit}.md").read_text(encoding="utf-8")
        misfits += [f"{prompt} lacks {text!r}" for text in wanted.get("has", []) if text not in body]
        misfits += [f"{prompt} has {text!r}" for text in wanted.get("lacks", []) if text in body]
    return misfits
