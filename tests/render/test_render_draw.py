"""Finding a Graphviz, and what is said where it does not do its work."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from materiac.render import draw

GRAPH = 'digraph { a [label="ä"] }'


def install(folder: Path, script: str) -> str:
    """Put a program named `dot` into a folder and return a search path with it."""
    program = folder / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def test_a_dot_on_the_path_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", install(tmp_path, 'echo "$@"; cat'))
    assert draw.draw(GRAPH, "pdf") == f"-Kdot -Tpdf\n{GRAPH}".encode()


def test_without_one_the_package_stands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ">ä</text>" in draw.draw(GRAPH, "svg").decode()
    with pytest.raises(draw.DrawError, match="cannot make pdf: install Graphviz, or draw svg or png"):
        draw.draw(GRAPH, "pdf")


@pytest.mark.parametrize("drawing", draw.DRAWINGS)
def test_with_neither_both_ways_out_are_named(
    drawing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(draw, "_STAND_IN", "no-such-program")
    with pytest.raises(draw.DrawError) as caught:
        draw.draw(GRAPH, drawing)
    assert str(caught.value) == (
        f"no Graphviz found to make {drawing} with: install Graphviz, or pip install graphviz-pure; "
        "--format dot, mermaid or text work without it"
    )


FAULTS = {
    "too slow": ("exec sleep 30", "the layout took longer than 0.3 s: try --overview, or a longer --timeout"),
    "failed": ("echo one >&2; echo why >&2; exit 1", "failed: why"),
    "failed in silence": ("exit 1", "failed: it said nothing"),
    "killed": ("kill -9 $$", "failed: it said nothing"),
}


@pytest.mark.parametrize(("script", "words"), FAULTS.values(), ids=FAULTS)
def test_a_dot_that_does_not_do_its_work(
    script: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", install(tmp_path, script))
    started = time.monotonic()
    with pytest.raises(draw.DrawError, match=words):
        draw.draw(GRAPH, "svg", timeout_s=0.3 if script.startswith("exec") else 20)
    assert time.monotonic() - started < 20


def test_a_program_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", install(tmp_path, ""))
    (tmp_path / "dot").write_text("#!/no/such/shell\n")
    with pytest.raises(draw.DrawError, match="cannot be started"):
        draw.draw(GRAPH, "svg")


def test_warnings_are_not_printed(capfd: pytest.CaptureFixture[str]) -> None:
    draw.draw('digraph { a [label="设", color="nonsense"] }', "svg")
    assert capfd.readouterr() == ("", "")
