"""What is shown of streams that run side by side."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from materiac.cli.live_view import LiveView
from materiac.cli.news import Teller, words
from materiac.program import Agent, Materia, Program, Socket
from materiac.runtime.journal import Record

MATERIA = {"Build": Materia("Build", "Build", Agent("p"))}
PROGRAM = Program("L", "build", {"build": Socket("build", "Build", "text")}, MATERIA)


def build(stream: str, item: str) -> dict[str, Any]:
    place = {"socket": "build", "materia": "Build", "visit": 1}
    return {**place, "itemKey": item, "itemLabel": item, "stream": stream}


def finished(stream: str, item: str) -> tuple[str, dict[str, Any]]:
    route = {"kind": "edge", "to": "keep", "when": "always", "edge": 0}
    return "socket_finished", {**build(stream, item), "verdict": None, "route": route, "blocked": None}


FAILED = {"kind": "agent", "message": "gone", "socket": "build", "visit": 1, "item": "WI-2"}
STREAMS = [{"name": name, "workItemIndexes": [n]} for n, name in enumerate(("a", "b", "c"))]
RECORDS: list[tuple[str, dict[str, Any]]] = [
    ("streams_started", {"socket": "plan", "streams": STREAMS, "maxConcurrency": 2}),
    ("stream_started", {"stream": "a"}),
    ("stream_started", {"stream": "b"}),
    ("socket_started", build("a", "WI-1")),
    ("socket_started", build("b", "WI-2")),
    finished("a", "WI-1"),
    ("socket_failed", {**build("b", "WI-2"), "failure": FAILED}),
    ("stream_finished", {"stream": "b", "status": "failed", "failure": FAILED}),
    ("streams_finished", {"socket": "plan", "fanIn": []}),
]


def test_each_visit_is_told_with_its_stream() -> None:
    teller = Teller(PROGRAM)
    told = [words(news) for n, one in enumerate(RECORDS) for news in teller.tell(Record(n, "", *one), n)]
    assert [line for line in told if line is not None] == [
        "3 streams, 2 at a time: 'a', 'b', 'c'",
        "[a] build (Build) WI-1 …",
        "[b] build (Build) WI-2 …",
        "[a] build (Build) WI-1 → keep  (2.0 s)",
        "[b] build (Build) WI-2 failed, agent: gone",
    ]


def seen(view: LiveView, now: float) -> list[str]:
    page = io.StringIO()
    Console(file=page, width=100).print(view._path(now))
    return [" ".join(line.split()) for line in page.getvalue().splitlines()]


def test_the_live_view_shows_all_that_run() -> None:
    teller, view, pages = Teller(PROGRAM), LiveView(io.StringIO(), 0), []
    for n, one in enumerate(RECORDS):
        for news in teller.tell(Record(n, "", *one), n):
            view.take(news)
        pages.append(seen(view, 10))
    assert pages[4] == ["> 0:07 [a] build (Build) WI-1 …", "> 0:06 [b] build (Build) WI-2 …"]
    assert pages[5] == ["2.0 s [a] build (Build) WI-1 → keep", "> 0:06 [b] build (Build) WI-2 …"]
    assert pages[-1] == ["2.0 s [a] build (Build) WI-1 → keep"]
