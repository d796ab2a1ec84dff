from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import AGENT, FEATURES, SHIPPED, compiled

from materiac.cli import loading
from materiac.program import image_data

SOCKETS = FEATURES["hello"]["loadouts"]["L"]


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "MATERIA_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def write(name: str, content: Any) -> str:
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return name


def mine(name: str) -> dict[str, Any]:
    return {"loadouts": {name: SOCKETS}, "materia": {"Agent": AGENT}}


def loaded(file: str | None = None, loadout: str | None = None) -> loading.Loaded:
    found = loading.load_or_report(file, loadout)
    assert found is not None
    return found


def own(files: tuple[str, ...]) -> list[str]:
    return [name for name in files if not name.startswith("bundled:")]


def test_the_bundled_loadouts_are_lowest_and_in_order() -> None:
    bundled = loading.bundled()
    assert [text.name for text in bundled] == [f"bundled:{path.name}" for path in SHIPPED]
    assert all(text.shipped for text in bundled)
    assert loading.below(Path.cwd(), {}).texts == bundled


def test_all_layers_lowest_first() -> None:
    write("home/.config/materiac/materia.json", {**mine("User"), "budget": {"maxTokens": 1, "maxCostUsd": 1}})
    write(".materia/loadout.json", {**mine("Project"), "budget": {"maxTokens": 2}})
    write(".pi/pi-materia.json", {"wrong": 1})
    found = loaded(write("x.json", mine("Named")))
    assert own(found.files) == ["home/.config/materiac/materia.json", ".materia/loadout.json", "x.json"]
    assert found.image.program.name == "Named"
    assert found.resolved["budget"] == {"maxTokens": 2, "maxCostUsd": 1}
    assert {"User", "Project", "Named"} <= found.resolved["loadouts"].keys()
    assert found.image.program.budget.max_tokens == 2


def test_without_a_named_file_the_layers_are_enough() -> None:
    write(".pi/pi-materia.json", mine("Project"))
    assert loaded().image.program.name == "Project"
    assert loaded(None, "Hello").image.program.name == "Hello"


def test_the_environment_names_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATERIA_CONFIG", write("env.json", mine("Environment")))
    found = loaded()
    assert (found.image.program.name, own(found.files)) == ("Environment", ["env.json"])


def test_the_command_line_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATERIA_CONFIG", write("env.json", mine("Environment")))
    found = loaded(write("x.json", mine("Named")))
    assert (found.image.program.name, own(found.files)) == ("Named", ["x.json"])
    assert "Environment" not in found.resolved["loadouts"]


def test_an_empty_variable_names_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATERIA_CONFIG", "")
    write(".materia/loadout.json", mine("Project"))
    assert loaded().image.program.name == "Project"


@pytest.mark.parametrize(
    "named", [".materia/loadout.json", "./.materia/../.materia/loadout.json", "link.json"]
)
def test_a_layer_that_is_named_is_the_topmost_and_there_once(named: str) -> None:
    write(".materia/loadout.json", mine("Project"))
    Path("link.json").symlink_to(".materia/loadout.json")
    assert own(loaded(named).files) == [named]


def test_nobody_s_home(monkeypatch: pytest.MonkeyPatch) -> None:
    write(".config/materiac/materia.json", {"wrong": 1})
    for home in ("", None):
        monkeypatch.setenv("HOME", home) if home is not None else monkeypatch.delenv("HOME")
        assert loaded(write("x.json", mine("Named"))).image.program.name == "Named"


def test_nothing_says_which_loadout(capsys: pytest.CaptureFixture[str]) -> None:
    assert loading.load_or_report(None, None) is None
    assert "nothing says which loadout is meant" in capsys.readouterr().err


def test_findings_go_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    broken = {"loadouts": {"L": {"entry": "a", "sockets": {"a": {"materia": "Nobody"}}}}}
    assert loading.load_or_report(write("x.json", broken), None) is None
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("x.json:1:")
    assert "error[unknown-materia]" in err


def test_a_compiled_machine_needs_no_layers(capsys: pytest.CaptureFixture[str]) -> None:
    write(".materia/loadout.json", {"wrong": 1})
    image = compiled(FEATURES["work"])
    found = loaded(write("machine.json", image_data(image)))
    assert (found.image, found.files, found.resolved) == (image, ("machine.json",), {})
    assert capsys.readouterr() == ("", "")


def test_a_loadout_may_speak_of_formats_and_programs() -> None:
    config = {**mine("Named"), "x-materiac": {"format": 1, "program": 2}}
    assert loaded(write("x.json", config)).image.program.name == "Named"


def test_a_folder_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("gone").mkdir()
    monkeypatch.chdir("gone")
    Path("../gone").rmdir()
    with pytest.raises(loading.UnreadableError, match="cannot read 'the working folder'"):
        loading.surroundings()
