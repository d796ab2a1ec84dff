from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from materiac.cli import main

UNTIDY = b"loadout L { a: A -> end }  # done\n"
TIDY = b"loadout L {\n  a: A -> end\n}  # done\n"
WRONG = b"loadout L { a: A => end }\n"


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(name: str, content: bytes) -> Path:
    Path(name).write_bytes(content)
    return Path(name)


@pytest.mark.parametrize(
    ("name", "content", "laid_out"),
    [
        pytest.param("a.materia", UNTIDY, TIDY, id="dsl"),
        pytest.param("a.json", b'{"b":1,\n"a":[]}', b'{\n  "b": 1,\n  "a": []\n}\n', id="json"),
        pytest.param("a.json", b'\xef\xbb\xbf{"b":1}', b'{\n  "b": 1\n}\n', id="byte-order mark"),
        pytest.param("a.materia", b"budget { a 1 }\r\n", b"budget { a 1 }\n", id="crlf"),
        pytest.param("a.conf", UNTIDY, TIDY, id="dsl by its looks"),
    ],
)
def test_a_file_is_written_anew(name: str, content: bytes, laid_out: bytes) -> None:
    file = write(name, content)
    assert main(["fmt", name]) == 0
    assert file.read_bytes() == laid_out
    before = file.stat().st_mtime_ns
    assert main(["fmt", name]) == 0
    assert file.stat().st_mtime_ns == before
    assert [path.name for path in Path().iterdir()] == [name]


def test_check_says_which_files_would_change(capsys: pytest.CaptureFixture[str]) -> None:
    untidy, tidy = write("untidy.materia", UNTIDY), write("tidy.materia", TIDY)
    assert main(["fmt", "--check", "tidy.materia"]) == 0
    assert main(["fmt", "--check", "tidy.materia", "untidy.materia"]) == 1
    assert (untidy.read_bytes(), tidy.read_bytes()) == (UNTIDY, TIDY)
    assert capsys.readouterr().err == "materiac: 'untidy.materia' would change\n"


def test_diff_shows_what_would_change(capsys: pytest.CaptureFixture[str]) -> None:
    untidy = write("a.materia", UNTIDY.rstrip())
    assert main(["fmt", "--diff", "a.materia"]) == 0
    assert main(["fmt", "--diff", "--check", "a.materia"]) == 1
    assert untidy.read_bytes() == UNTIDY.rstrip()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["--- a.materia as it is", "+++ a.materia laid out"]
    assert "-loadout L { a: A -> end }  # done" in lines
    assert "+  a: A -> end" in lines


def test_what_cannot_be_read_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    wrong, untidy = write("wrong.materia", WRONG), write("untidy.materia", UNTIDY)
    assert main(["fmt", "wrong.materia", "nowhere.materia", "untidy.materia"]) == 2
    assert wrong.read_bytes() == WRONG
    assert untidy.read_bytes() == TIDY
    said = capsys.readouterr().err
    assert "wrong.materia:1:18: error[syntax]" in said
    assert "cannot read 'nowhere.materia'" in said


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for content in (UNTIDY, TIDY):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert main(["fmt", "-", "--language", "dsl"]) == 0
        assert capfdbinary.readouterr().out == TIDY


def test_rights_and_links_stay() -> None:
    file = write("real.materia", UNTIDY)
    file.chmod(0o640)
    Path("link.materia").symlink_to("real.materia")
    assert main(["fmt", "link.materia"]) == 0
    assert Path("link.materia").is_symlink()
    assert file.read_bytes() == TIDY
    assert file.stat().st_mode & 0o777 == 0o640
