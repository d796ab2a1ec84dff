"""`--trace` and MATERIAC_TRACE: when a cast is traced, and what is said where it cannot be."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from desk import Desk

AGENT = ("--agent", "scripted:answers.json")
RUN = ("run", "loadout.json", "--request", "x", "--artifacts", "casts", *AGENT)
RESUME = ("resume", "--artifacts", "casts", *AGENT)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    found = Desk(tmp_path)
    found.loadout({"a": {"materia": "A"}}, {"A": {"prompt": "Do it."}})
    found.answers(a="done")
    return found


def names(text: str) -> list[str]:
    """The names of the spans that stand in a text, one JSON object below the other."""
    found, decoder = [], json.JSONDecoder()
    while (at := text.find('{\n    "name"')) >= 0:
        span, end = decoder.raw_decode(text[at:])
        found.append(span["name"])
        text = text[at + end :]
    return found


@pytest.mark.parametrize(
    ("options", "environ", "expected"),
    [
        pytest.param((), {}, 0, id="off"),
        pytest.param((), {"MATERIAC_TRACE": "console"}, 3, id="environment"),
        pytest.param(("--trace",), {"MATERIAC_TRACE": "console"}, 3, id="both"),
        pytest.param(("--no-trace",), {"MATERIAC_TRACE": "console"}, 0, id="against"),
        pytest.param((), {"MATERIAC_TRACE": "off"}, 0, id="said-off"),
        pytest.param((), {"MATERIAC_TRACE": "console", "OTEL_SDK_DISABLED": "true"}, 0, id="disabled"),
    ],
)
def test_when_a_cast_is_traced(
    options: tuple[str, ...],
    environ: dict[str, str],
    expected: int,
    desk: Desk,
    capsys: pytest.CaptureFixture[str],
) -> None:
    ran = desk.call_here(capsys, *RUN, "--json", *options, env=environ)
    assert (ran.code, json.loads(ran.out)["status"]) == (0, "complete")
    assert len(names(ran.err)) == expected


def test_a_cast_that_is_gone_on_with(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.answers(a={"error": "no"})
    environ = {"MATERIAC_TRACE": "console"}
    assert desk.call_here(capsys, *RUN, env=environ).code == 1
    desk.answers(a=["unused", "done"])
    ran = desk.call_here(capsys, *RESUME, "--retry", env=environ)
    assert ran.code == 0
    assert names(ran.err) == ["chat", "invoke_agent A", "invoke_workflow Trial"]


@pytest.mark.parametrize("words", [RUN, RESUME], ids=["run", "resume"])
def test_refused_before_anything_runs(
    words: tuple[str, ...], desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    if words is RESUME:
        desk.answers(a={"error": "no"})
        desk.call_here(capsys, *RUN)
        words = (*RESUME, "--retry")
    before = len(list(desk.files.glob("*/events.jsonl")))
    ran = desk.call_here(capsys, *words, env={"MATERIAC_TRACE": "yes"})
    assert ran.code == 2
    assert "'MATERIAC_TRACE' is 'yes', expected 'otlp', 'console' or 'off'" in ran.err
    assert len(list(desk.files.glob("*/events.jsonl"))) == before


def test_nothing_is_imported_that_is_not_asked_for(desk: Desk) -> None:
    code = f"""
import sys
from materiac.cli import main
code = main({list(RUN)!r})
sys.exit(code or any(name.startswith("opentelemetry.sdk") for name in sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=desk.folder,
        env=desk.environ(None),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_library_is_an_extra(desk: Desk) -> None:
    code = f"""
import sys
sys.modules["opentelemetry"] = None
from materiac.cli import main
sys.exit(main([*{list(RUN)!r}, "--trace"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=desk.folder,
        env=desk.environ(None),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2
    assert b"tracing needs OpenTelemetry: pip install 'materiac[otel]'" in done.stderr
    assert not desk.files.exists() or not list(desk.files.iterdir())


def test_a_dead_collector_is_told_of_once(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    ran = desk.call_here(capsys, *RUN, "--trace", env={"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"})
    assert ran.code == 0
    assert ran.err.count("3 of 3 spans of the trace could not be sent") == 1
    assert "127.0.0.1" not in ran.err
