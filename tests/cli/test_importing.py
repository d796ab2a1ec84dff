"""Imports: which files lie below which, what may be reached, and what is said where it goes wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from samples import Json, loadout, socket

from materiac.cli import main
from materiac.cli.importing import follow
from materiac.pipeline import Text, check, compile_loadout

MATERIA = {"Agent": {"prompt": "Imported."}}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("MATERIA_CONFIG", raising=False)


def write(name: str, data: Json | str) -> Path:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
    return path


def importer(*paths: str, **more: Any) -> Json:
    return {"import": list(paths), **more}


def texts(name: str, *, allow_outside: bool = False) -> tuple[Text, ...]:
    return follow(Text(name, Path(name).read_bytes()), allow_outside=allow_outside)


def prompt(name: str) -> str:
    image = compile_loadout(texts(name)).image
    assert image is not None
    agent = image.program.materia["Agent"].agent
    assert agent is not None
    return agent.prompt


def found(name: str, *, allow_outside: bool = False) -> list[tuple[str, str]]:
    """The file and the rule of each finding."""
    located = check(texts(name, allow_outside=allow_outside))
    return [(part.place.source.name if part.place else "", part.finding.rule) for part in located]


MAIN = {"loadouts": {"L": {"entry": "a", "sockets": {"a": socket()}}}}


def test_imports_lie_below_their_importer_and_above_earlier_ones() -> None:
    write("main.json", importer("a.json", "b.materia", **MAIN))
    write("a.json", {"materia": MATERIA})
    write("b.materia", "materia Agent { tools coding }")
    assert found("main.json") == [("main.json", "import-clash")]
    write("b.materia", 'import "a.json"\nmateria Agent { prompt "Mine." }')
    assert [text.name for text in texts("main.json")] == ["a.json", "b.materia", "main.json"]
    assert found("main.json") == []
    assert prompt("main.json") == "Mine."
    write("main.json", importer("a.json", materia={"Agent": {"prompt": "Own."}}, **MAIN))
    assert prompt("main.json") == "Own."


def test_the_dsl_imports_too() -> None:
    write("main.materia", 'import "lib/a.json"\nloadout L { entry a a: Agent }')
    write("lib/a.json", importer("b.json"))
    write("lib/b.json", {"materia": MATERIA, "budget": {"maxTokens": 1}})
    assert [text.name for text in texts("main.materia")] == ["lib/b.json", "lib/a.json", "main.materia"]
    image = compile_loadout(texts("main.materia")).image
    assert image is not None
    assert image.program.budget.max_tokens is None


def test_a_loadout_can_be_imported() -> None:
    write("main.json", importer("a.json", activeLoadout="L"))
    write("a.json", loadout({"x": socket()}))
    assert main(["compile", "main.json", "-o", "out.json"]) == 0
    assert main(["compile", "main.json", "--loadout", "L", "-o", "out.json"]) == 0


@pytest.mark.parametrize(
    ("files", "findings"),
    [
        pytest.param({"main.json": importer("no.json")}, [("main.json", "import-missing")], id="missing"),
        pytest.param({"main.json": importer(".")}, [("main.json", "import-missing")], id="folder"),
        pytest.param({"main.json": importer("\0")}, [("main.json", "import-missing")], id="no path at all"),
        pytest.param({"main.json": importer("main.json")}, [("main.json", "import-cycle")], id="itself"),
        pytest.param(
            {"main.json": importer("a.json"), "a.json": importer("./main.json")},
            [("a.json", "import-cycle")],
            id="circle",
        ),
        pytest.param({"main.json": importer("../x.json")}, [("main.json", "import-outside")], id="above"),
        pytest.param(
            {"main.json": importer("/etc/passwd")}, [("main.json", "import-outside")], id="absolute"
        ),
        pytest.param({"main.json": {"import": "a.json"}}, [("main.json", "invalid-value")], id="no list"),
        pytest.param({"main.json": {"import": [""]}}, [("main.json", "invalid-value")], id="no path"),
        pytest.param(
            {"main.json": importer("a.json"), "a.json": "{"},
            [("a.json", "syntax")],
            id="what is imported is broken",
        ),
        pytest.param(
            {
                "main.json": importer("a.json", "b.json"),
                "a.json": importer("c.json"),
                "b.json": importer("c.json"),
                "c.json": {"materia": MATERIA},
            },
            [],
            id="one file, two ways",
        ),
    ],
)
def test_what_is_wrong_with_imports(files: dict[str, Json | str], findings: list[tuple[str, str]]) -> None:
    for name, data in files.items():
        write(name, data)
    assert found("main.json") == findings


def test_links_out_of_the_project_are_seen() -> None:
    write("../secret.json", {"materia": MATERIA})
    Path("inside.json").symlink_to("../secret.json")
    write("main.json", importer("inside.json", **MAIN))
    assert found("main.json")[0] == ("main.json", "import-outside")
    assert found("main.json", allow_outside=True) == []
    assert main(["check", "main.json"]) == 1
    assert main(["check", "--allow-outside", "main.json"]) == 0


def test_the_folder_of_the_file_is_inside() -> None:
    write("../other/main.json", importer("a.json", **MAIN))
    write("../other/a.json", {"materia": MATERIA})
    assert found("../other/main.json") == []


def test_a_long_chain_has_an_end() -> None:
    for number in range(100):
        write(f"{number}.json", importer(f"{number + 1}.json"))
    rules = found("0.json")
    assert [rule for _, rule in rules] == ["import-missing"]


def test_a_pipe_is_not_waited_for() -> None:
    os.mkfifo("pipe.materia")
    write("main.materia", 'import "pipe.materia"')
    (located,) = check(texts("main.materia"))
    assert located.finding.rule == "import-missing"
    assert "it is no file" in located.finding.message


def test_a_device_is_not_read() -> None:
    write("main.json", importer("/dev/zero"))
    rules = [part.finding.rule for part in check(texts("main.json", allow_outside=True))]
    assert rules == ["import-missing"]
