from __future__ import annotations

import io
import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from samples import FEATURES, compiled, loadout, socket

from materiac.cli import main
from materiac.program import image_data

SOUND = FEATURES["work"]
BROKEN = loadout({"a": socket(edges=[{"to": "nowhere"}])})


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("XDG_CONFIG_HOME", "MATERIA_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def write(content: Any, name: str = "x.json") -> str:
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return name


def test_the_machine_on_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["compile", write(SOUND)]) == 0
    out, err = capfdbinary.readouterr()
    assert json.loads(out) == image_data(compiled(SOUND))
    assert out.endswith(b"}\n")
    assert err == b""


def test_the_machine_in_a_file(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["compile", write(SOUND), "-o", "machine.json"]) == 0
    assert json.loads(Path("machine.json").read_bytes()) == image_data(compiled(SOUND))
    assert capfdbinary.readouterr() == (b"", b"")


def test_a_machine_compiles_to_itself() -> None:
    main(["compile", write(SOUND), "-o", "one.json"])
    assert main(["compile", "one.json", "-o", "two.json"]) == 0
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()


def test_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(SOUND).encode())))
    assert main(["compile", "-", "-o", "-"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["program"]["name"] == "L"


def test_one_of_several(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    both = {**SOUND, "loadouts": {**SOUND["loadouts"], "M": FEATURES["hello"]["loadouts"]["L"]}}
    assert main(["compile", write(both), "--loadout", "M"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["program"]["name"] == "M"
    assert main(["compile", write(both)]) == 2
    assert b"error[unknown-loadout]" in capfdbinary.readouterr().err


def test_errors_leave_the_output_alone(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    Path("machine.json").write_text("as it was", encoding="utf-8")
    assert main(["compile", write(BROKEN), "-o", "machine.json"]) == 2
    assert Path("machine.json").read_text(encoding="utf-8") == "as it was"
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert b"x.json:1:" in err
    assert b"error[unknown-target]" in err


def test_warnings_go_to_standard_error(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["compile", write(FEATURES["early"])]) == 0
    out, err = capfdbinary.readouterr()
    assert json.loads(out)["format"] == 1
    assert b"warning[legacy-form]" in err


@pytest.mark.parametrize("file", ["missing.json", ".", "a\0b"])
def test_a_file_that_cannot_be_read(file: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["compile", file]) == 2
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert err.startswith(b"materiac: cannot read '")
    assert err.count(b"\n") == 1


@pytest.mark.parametrize("output", ["no/such/folder/x", ".", "a\0b", "x.json/y"])
def test_an_output_that_cannot_be_written(output: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["compile", write(SOUND), "-o", output]) == 2
    assert capfdbinary.readouterr().err.startswith(b"materiac: cannot write '")
    assert list(Path().iterdir()) == [Path("x.json")]


def test_the_mode_of_an_output() -> None:
    mask = os.umask(0o027)
    try:
        main(["compile", write(SOUND), "-o", "new"])
        Path("old").touch(mode=0o600)
        main(["compile", "x.json", "-o", "old"])
    finally:
        os.umask(mask)
    assert [stat.S_IMODE(Path(name).stat().st_mode) for name in ("new", "old")] == [0o640, 0o600]


def test_an_output_behind_a_link() -> None:
    Path("link").symlink_to("target")
    assert main(["compile", write(SOUND), "-o", "link"]) == 0
    assert Path("link").is_symlink()
    assert json.loads(Path("target").read_bytes())["format"] == 1


def test_an_output_that_is_no_file_is_written_into() -> None:
    assert main(["compile", write(SOUND), "-o", os.devnull]) == 0
    assert Path(os.devnull).is_char_device()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"format": 9}, "it has format 9, this version reads format 1", id="format"),
        pytest.param(
            {"hash": "0"}, "its hash does not fit its content: compile the loadout again", id="hash"
        ),
        pytest.param({"program": []}, "a part of it is missing or of the wrong kind: ", id="garbage"),
        pytest.param({"settings": 5}, "a part of it is missing or of the wrong kind: ", id="settings"),
        pytest.param({"settings": {"artifact_dir": 5}}, "a part of it is ", id="one setting"),
    ],
)
def test_a_machine_that_is_not_sound(
    change: Any, message: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    machine = {**image_data(compiled(SOUND)), **change}
    assert main(["compile", write(machine, "machine.json")]) == 2
    out, err = capfdbinary.readouterr()
    assert out == b""
    assert err.decode().startswith(f"materiac: 'machine.json' cannot be used: {message}")


@pytest.mark.parametrize("text", ['{"format": 1, "program": ' + "[" * 100_000, '{"format", "program"'])
def test_a_machine_that_is_no_json_is_a_loadout_with_an_error(
    text: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["compile", write(text)]) == 2
    assert b"error[syntax]" in capfdbinary.readouterr().err
