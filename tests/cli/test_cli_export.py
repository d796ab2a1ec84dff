"""`materiac export`: the formats, the report on stderr, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import FEATURES, working

from materiac.cli import main
from materiac.cli.export import FORMATS as ON_THE_COMMAND_LINE
from materiac.export import FORMATS

BEGINNINGS = {"mermaid": "flowchart", "plantuml": "@startuml", "scxml": "<?xml", "python": '"""'}


@pytest.fixture(name="file")
def _file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    file = tmp_path / "loadout.json"
    file.write_text(json.dumps(working()), encoding="utf-8")
    return file


def test_the_command_line_has_every_format() -> None:
    assert tuple(FORMATS) == ON_THE_COMMAND_LINE


@pytest.mark.parametrize("name", FORMATS)
def test_data_goes_to_stdout_and_losses_to_stderr(
    name: str, file: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(file), "--to", name]) == 0
    out, err = capfd.readouterr()
    assert out.startswith(BEGINNINGS[name])
    assert f"materiac: {name} has no words for the contract of JSON outputs" not in out
    assert ("the prompts of agents" in err) is (name != "python")


def test_a_file_is_written_and_quiet_is_quiet(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(file), "--to", "scxml", "--quiet", "-o", "out.scxml"]) == 0
    assert capfd.readouterr() == ("", "")
    assert Path("out.scxml").read_text(encoding="utf-8").startswith("<?xml")


def test_a_compiled_machine_is_exported_too(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", str(file), "-o", "machine.json"]) == 0
    assert main(["export", "machine.json", "--to", "python", "--quiet"]) == 0
    from_machine = capfd.readouterr().out
    assert main(["export", str(file), "--to", "python", "--quiet"]) == 0
    assert from_machine == capfd.readouterr().out


@pytest.mark.parametrize("text", ["{", json.dumps({"loadouts": {"L": {"sockets": {}}}})])
def test_what_has_errors_is_not_exported(text: str, file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text(text, encoding="utf-8")
    assert main(["export", str(file), "--to", "python"]) == 2
    assert capfd.readouterr().out == ""


def test_an_unknown_format_is_a_usage_error(file: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["export", str(file), "--to", "word"])
    assert stop.value.code == 2


def test_samples_with_early_forms_are_exported(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file.write_text(json.dumps(FEATURES["words"]), encoding="utf-8")
    assert main(["export", str(file), "--to", "mermaid", "--quiet"]) == 0
    assert capfd.readouterr().out.startswith("flowchart")
