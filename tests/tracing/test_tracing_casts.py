"""Casts that are traced: what comes to a collector on a real socket, and what none of it may cost."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from collector import Collector, Got, collecting
from samples import Json, answers, compiled, loadout, order, socket, working

from materiac.agents.protocol import Agent
from materiac.environment import Mask
from materiac.runtime.journal import read
from materiac.runtime.notify import mask_of
from materiac.runtime.resume import Allowed, Resumption, resume
from materiac.runtime.run import Result, run
from materiac.tracing import TraceError, Watcher

ITEMS = [{"title": f"T{n}", "context": f"c{n}"} for n in (1, 2)]
YES = {"satisfied": True}
USAGE = {"input": 10, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cost": 0.25}
SECRET = "open-sesame-1234"  # noqa: S105 - of nobody


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


def watcher(
    config: Json, cwd: Path, collector: Collector, records: Any = (), **environ: str
) -> tuple[Watcher, Mask]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (collector.environ | environ).items():
            patch.setenv(name, value)
        image = compiled(config)
        mask = mask_of(image.settings, environ)
        made = Watcher.begin(cwd / "casts", image.program.materia, mask, environ, records, asked=True)
    assert made is not None
    return made, mask


def traced(config: Json, cwd: Path, agent: Agent, collector: Collector, **environ: str) -> Result:
    made, _ = watcher(config, cwd, collector, **environ)
    base = order(compiled(config), cwd, agent)
    told = order(compiled(config), cwd, agent, watchers=[made], environ={**base.environ, **environ})
    result = run(told)
    assert made.close() is None
    assert result.broken == ()
    return result


def gone_on(
    result: Result, config: Json, agent: Agent, collector: Collector, *, person: Any = None, **allowed: bool
) -> Result:
    records = read(result.folder / "events.jsonl").records
    made, _ = watcher(config, result.folder.parent.parent, collector, records)
    on = Resumption(result.folder, agent, {}, None, Allowed(**allowed), person, watchers=[made])
    after = resume(on)
    assert made.close() is None
    assert after.broken == ()
    return after


def test_a_cast_its_visits_and_their_work(tmp_path: Path, collector: Collector) -> None:
    config = working(
        materia={
            "Planner": {"prompt": "Plan it.", "generator": True, "model": "m-1"},
            "Count": {"utility": "echo", "params": {"output": "n"}},
        }
    )
    config["loadouts"]["L"]["sockets"]["tell"] = {"materia": "Count"}
    agent = answers(
        plan={"json": {"workItems": ITEMS}, "usage": USAGE}, build=["one", "two"], check=[YES, YES]
    )
    result = traced(config, tmp_path, agent, collector)
    root, visits = "invoke_workflow L", "invoke_workflow L / invoke_agent Agent"
    assert collector.tree() == sorted(
        [
            root,
            f"{root} / invoke_agent Planner",
            f"{root} / invoke_agent Planner / chat m-1",
            *[visits] * 4,
            *[f"{visits} / chat"] * 4,
            f"{root} / visit tell",
            f"{root} / visit tell / execute_tool Count",
        ]
    )
    cast, turn = collector.one(root), collector.one("chat m-1")
    assert cast.parent == ""
    assert {one.trace for one in collector.got} == {cast.trace}
    assert cast.resource["service.name"] == "materiac"
    assert cast.attributes["materiac.cast.id"] == result.folder.name
    assert cast.attributes["gen_ai.operation.name"] == "invoke_workflow"
    assert cast.attributes["materiac.status"] == "complete"
    told = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.agent.name": "Planner",
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.input_tokens": 17,
        "gen_ai.usage.output_tokens": 2,
        "gen_ai.usage.cache_read.input_tokens": 3,
        "gen_ai.usage.cache_creation.input_tokens": 4,
        "materiac.usage.cost_usd": 0.25,
        "gen_ai.response.finish_reasons": ["stop"],
    }
    assert told.items() <= turn.attributes.items()
    check = [
        one for one in collector.named("invoke_agent Agent") if one.attributes["materiac.socket"] == "check"
    ]
    assert [one.attributes["materiac.item.key"] for one in check] == ["WI-1", "WI-2"]
    assert [one.attributes["materiac.route.to"] for one in check] == ["build", "tell"]
    assert all(one.attributes["materiac.verdict"] is True for one in check)
    assert collector.one("execute_tool Count").attributes["process.exit.code"] == 0
    within_parents(collector)


def within_parents(collector: Collector) -> None:
    """No span begins before the one above it, or ends after it."""
    known = {one.id: one.span for one in collector.got}
    for one in collector.got:
        above = known.get(one.parent, one.span)
        assert one.span.start_time_unix_nano <= one.span.end_time_unix_nano
        assert above.start_time_unix_nano - 10**7 <= one.span.start_time_unix_nano
        assert one.span.end_time_unix_nano <= above.end_time_unix_nano


def test_no_text_unless_it_is_asked_for(tmp_path: Path, collector: Collector) -> None:
    config = loadout({"a": socket(edges=[{"to": "b"}]), "b": socket(parse="json")})
    traced(config, tmp_path, answers(a="a certain answer", b=["no object", "no object"]), collector)
    raw = b"".join(collector.raw)
    assert collector.got
    for text in (b"a certain answer", b"no object", b"Do it.", b"a request"):
        assert text not in raw


def test_texts_where_they_are_asked_for(tmp_path: Path, collector: Collector) -> None:
    config = loadout({"a": socket()})
    agent = answers(a=f"I say {SECRET}")
    environ = {"MATERIAC_TRACE_CONTENT": "1", "VAULT_KEY": SECRET}
    traced(config, tmp_path, agent, collector, **environ)
    told = collector.one("chat").attributes
    [asked], [answered] = (json.loads(told[f"gen_ai.{name}.messages"]) for name in ("input", "output"))
    assert asked["role"] == "user"
    assert "a request" in asked["parts"][0]["content"]
    part = {"type": "text", "content": "I say ***"}
    assert answered == {"role": "assistant", "parts": [part], "finish_reason": "stop"}
    assert collector.one("invoke_workflow L").attributes["materiac.request"] == "a request"
    assert SECRET.encode() not in b"".join(collector.raw)


def test_streams_side_by_side(tmp_path: Path, collector: Collector) -> None:
    streams = [{"name": name, "workItemIndexes": [n]} for n, name in enumerate("ab")]
    schedule = {"workItems": ITEMS, "parallelSchedule": {"version": 1, "streams": streams}}
    step = {"cursor": "workItemIndex", "items": "state.workItems", "when": "satisfied"}
    edges = [{"when": "satisfied", "to": "build"}]
    config = loadout(
        {
            "plan": {"materia": "Plan", "edges": [{"to": "build"}]},
            "build": {"materia": "Safe", "parse": "json", "advance": step, "edges": edges},
        },
        loops={
            "work": {
                "sockets": ["build"],
                "consumes": {"from": "plan"},
                "exits": [{"from": "build", "condition": "satisfied", "targetSocketId": "end"}],
                "parallel": {"maxConcurrency": 2},
            }
        },
        materia={
            "Plan": {"prompt": "Plan.", "generator": True, "parallel": True},
            "Safe": {"prompt": "Do {{item.title}}.", "parallelSafe": True},
        },
    )
    traced(config, tmp_path, answers(plan=schedule, build=[YES, YES]), collector)
    root = "invoke_workflow L"
    for name in "ab":
        lane = collector.one(f"stream {name}")
        assert lane.parent == collector.one(root).id
        [visit] = [one for one in collector.got if one.parent == lane.id]
        assert (visit.name, visit.attributes["materiac.stream"]) == ("invoke_agent Safe", name)
        assert [one.name for one in collector.got if one.parent == visit.id] == ["chat"]
    within_parents(collector)


def failing(collector: Collector) -> dict[str, str]:
    return {one.name: one.attributes["error.type"] for one in collector.got if one.failed}


@pytest.mark.parametrize(
    ("materia", "agent", "expected"),
    [
        pytest.param(
            {"prompt": "Do it."},
            answers(a={"error": "no quota"}),
            {"chat": "error", "invoke_agent A": "agent", "invoke_workflow L": "agent"},
            id="turn",
        ),
        pytest.param(
            {"command": [sys.executable, "-c", "raise SystemExit(3)"]},
            answers(),
            {"execute_tool A": "exit", "visit a": "utility-exit", "invoke_workflow L": "utility-exit"},
            id="command",
        ),
        pytest.param(
            {"command": ["/does/not/exist"]},
            answers(),
            {"visit a": "utility-start", "invoke_workflow L": "utility-start"},
            id="no-command",
        ),
    ],
)
def test_failures(
    materia: Json, agent: Agent, expected: Mapping[str, str], tmp_path: Path, collector: Collector
) -> None:
    config = loadout({"a": {"materia": "A"}}, materia={"A": materia})
    traced(config, tmp_path, agent, collector)
    assert failing(collector) == expected


def test_a_cast_that_is_gone_on_with_has_one_trace(tmp_path: Path, collector: Collector) -> None:
    config = loadout({"a": socket(edges=[{"to": "b"}]), "b": socket()})
    first = traced(config, tmp_path, answers(a="done", b={"error": "no"}), collector)
    before = list(collector.got)
    gone_on(first, config, answers(b="done"), collector, retry=True)
    after = collector.got[len(before) :]
    [root] = [one for one in before if not one.parent]
    assert {one.trace for one in collector.got} == {root.trace}
    assert [one.name for one in after] == ["chat", "invoke_agent Agent", "invoke_workflow L"]
    assert after[-1].parent == root.id
    assert after[-1].attributes["materiac.status"] == "complete"
    assert len({one.id for one in collector.got}) == len(collector.got)


def test_what_an_interrupted_process_had_begun_is_told_by_the_next(
    tmp_path: Path, collector: Collector
) -> None:
    config = loadout({"a": socket(edges=[{"to": "b"}]), "b": socket()})
    with collecting() as lost:
        first = traced(config, tmp_path, answers(a="done", b="done"), lost)
    path = first.folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    started = [n for n, line in enumerate(lines) if json.loads(line)["type"] == "socket_started"]
    path.write_bytes(b"".join(lines[: started[1] + 1]))  # as a kill in the middle of the second visit
    gone_on(first, config, answers(b="done"), collector)
    root = "invoke_workflow L"
    assert collector.tree() == sorted(
        [
            root,
            f"{root} / invoke_agent Agent",
            f"{root} / {root}",
            f"{root} / {root} / invoke_agent Agent",
            f"{root} / {root} / invoke_agent Agent / chat",
        ]
    )
    [above] = [one for one in collector.named(root) if not one.parent]
    assert above.id == next(one.id for one in lost.named(root))
    assert above.attributes["materiac.interrupted"] is True


class Talking:
    """A person who says one thing, then that it is enough."""

    def __init__(self) -> None:
        self._words: list[str | None] = ["more", None]

    def say(self, answer: str) -> str | None:
        assert answer
        return self._words.pop(0)


def test_a_talk_in_two_processes(tmp_path: Path, collector: Collector) -> None:
    config = loadout({"a": {"materia": "A"}}, materia={"A": {"prompt": "Ask.", "multiTurn": True}})
    first = traced(config, tmp_path, answers(a="one"), collector)
    assert first.status == "waiting"
    assert collector.one("invoke_agent A").attributes["materiac.waiting_for"] == "person"
    gone_on(first, config, answers(a=["one", "two", "three"]), collector, person=Talking())
    visits = collector.named("invoke_agent A")
    assert [len([one for one in collector.got if one.parent == visit.id]) for visit in visits] == [1, 2]
    assert [event.name for event in visits[1].span.events] == ["materiac.person_said"] * 2


def test_what_is_sampled_stays_so(tmp_path: Path, collector: Collector) -> None:
    config = loadout({"a": socket()})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_TRACES_SAMPLER", "always_off")
        traced(config, tmp_path, answers(a="done"), collector)
    assert collector.got == []


@pytest.mark.parametrize("silent", [True, False], ids=["silent", "gone"])
def test_a_dead_collector_costs_a_moment(tmp_path: Path, *, silent: bool) -> None:
    config = loadout({"a": socket()})
    with collecting(silent=silent) as dead:
        if not silent:
            dead.port = 9  # where nobody listens
        made, _ = watcher(config, tmp_path, dead)
        began = time.monotonic()
        result = run(order(compiled(config), tmp_path, answers(a="done"), watchers=[made]))
        lost = made.close()
        seconds = time.monotonic() - began
    assert result.status == "complete"
    assert lost == "3 of 3 spans of the trace could not be sent"
    assert seconds < 8


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        pytest.param(
            {"MATERIAC_TRACE": "jaeger"},
            "'MATERIAC_TRACE' is 'jaeger', expected 'otlp', 'console' or 'off'",
            id="kind",
        ),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "'OTEL_EXPORTER_OTLP_PROTOCOL' is 'grpc', a trace is sent over 'http/protobuf' alone",
            id="protocol",
        ),
    ],
)
def test_refused(environ: dict[str, str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(TraceError) as caught:
        Watcher.begin(tmp_path, {}, Mask([]), environ, asked=True)
    assert str(caught.value) == said


def test_the_keys_of_a_collector_are_secrets(tmp_path: Path, collector: Collector) -> None:
    config = loadout({"a": socket()})
    headers = f"Authorization=Bearer%20{SECRET},x-team=a-team-of-ours"
    environ = {"OTEL_EXPORTER_OTLP_HEADERS": headers}
    result = traced(config, tmp_path, answers(a=f"{SECRET} a-team-of-ours"), collector, **environ)
    assert collector.headers[0]["authorization"] == f"Bearer {SECRET}"
    [answer] = (result.folder / "sockets" / "a").glob("*.md")
    assert answer.read_text(encoding="utf-8") == "*** a-team-of-ours"


def test_ids_follow_from_the_cast(tmp_path: Path, collector: Collector) -> None:
    config = loadout({"a": socket()})
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        traced(config, folder, answers(a="done"), collector)
    roots: list[Got] = collector.named("invoke_workflow L")
    assert len({one.trace for one in roots}) == 2
