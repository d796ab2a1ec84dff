"""`materiac render`: which format goes where, and how it exits."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from materiac import render
from materiac.cli import main
from materiac.cli.render import FORMATS

LOADOUT = {
    "loadouts": {
        "short": {"entry": "plan", "sockets": {"plan": {"materia": "Think"}}},
        "long": {
            "entry": "plan",
            "sockets": {
                "plan": {"materia": "Think", "edges": [{"to": "tell"}]},
                "tell": {"materia": "Think"},
            },
        },
    },
    "activeLoadout": "long",
    "materia": {"Think": {"prompt": "think about {{request}}"}},
}


@pytest.fixture
def loadout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A loadout file in an empty current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("MATERIA_CONFIG", raising=False)
    Path("loadout.json").write_text(json.dumps(LOADOUT))
    return "loadout.json"


def test_the_formats_are_those_of_the_room() -> None:
    assert FORMATS == render.FORMATS


def test_text_is_the_default(loadout: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", loadout]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0].split() == ["loadout", "long"]
    assert "→ tell" in out
    assert err == ""


def test_another_loadout(loadout: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", loadout, "--loadout", "short"]) == 0
    assert "tell" not in capsys.readouterr().out


def test_a_compiled_machine(loadout: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["render", loadout])
    expected = capsys.readouterr().out
    assert main(["compile", loadout, "-o", "machine.json"]) == 0
    assert main(["render", "machine.json"]) == 0
    assert capsys.readouterr().out == expected


ENDINGS = {
    "a.svg": b"<?xml",
    "a.png": b"\x89PNG",
    "a.dot": b"digraph",
    "a.GV": b"digraph",
    "a.mmd": b"flowchart",
    "a.txt": b"loadout",
    "a": b"loadout",
}


@pytest.mark.parametrize(("file", "beginning"), ENDINGS.items(), ids=ENDINGS)
def test_the_ending_names_the_format(
    file: str, beginning: bytes, loadout: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["render", loadout, "-o", file]) == 0
    assert Path(file).read_bytes().startswith(beginning)
    assert capsys.readouterr() == ("", "")


def test_a_named_format_wins(loadout: str) -> None:
    assert main(["render", loadout, "-o", "a.svg", "--format", "mermaid"]) == 0
    assert Path("a.svg").read_text().startswith("flowchart")


def test_a_drawing_goes_into_a_pipe(loadout: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["render", loadout, "--format", "svg"]) == 0
    assert capfdbinary.readouterr().out.rstrip().endswith(b"</svg>")


def test_a_drawing_does_not_go_to_a_terminal(loadout: str) -> None:
    master, terminal = pty.openpty()
    command = [sys.executable, "-m", "materiac", "render", loadout, "--format", "png"]
    done = subprocess.run(command, stdout=terminal, stderr=subprocess.PIPE, check=False)
    os.close(terminal)
    os.close(master)
    assert done.returncode == 2
    assert (
        done.stderr == b"materiac: png is nothing for a terminal: name a file with -o, or use --format text\n"
    )


BAD = {
    "no such file": (["render", "nowhere.json"], "cannot read 'nowhere.json'"),
    "no such loadout": (["render", "loadout.json", "--loadout", "lung"], "unknown-loadout"),
    "no such folder": (["render", "loadout.json", "-o", "no/where.txt"], "cannot write 'no/where.txt'"),
}


@pytest.mark.usefixtures("loadout")
@pytest.mark.parametrize(("words", "message"), BAD.values(), ids=BAD)
def test_what_cannot_be_drawn(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_a_failed_drawing_leaves_the_old_one(
    loadout: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dot = tmp_path / "bin" / "dot"
    dot.parent.mkdir()
    dot.write_text("#!/bin/sh\nprintf half; exec sleep 30\n")
    dot.chmod(0o755)
    monkeypatch.setenv("PATH", f"{dot.parent}{os.pathsep}{os.environ['PATH']}")
    Path("grid.svg").write_text("old")
    before = sorted(tmp_path.iterdir())
    assert main(["render", loadout, "-o", "grid.svg", "--timeout", "0.2"]) == 2
    assert "took longer than 0.2 s: try --overview" in capsys.readouterr().err
    assert Path("grid.svg").read_text() == "old"
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf", "soon"])
def test_no_time(seconds: str, loadout: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["render", loadout, f"--timeout={seconds}"])
    assert caught.value.code == 2
    assert f"'{seconds}' is no time" in capsys.readouterr().err


def test_overview(loadout: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", loadout, "--overview", "--format", "mermaid"]) == 0
    assert capsys.readouterr().out.startswith("flowchart")
