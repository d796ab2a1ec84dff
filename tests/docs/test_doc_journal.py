"""docs/running.md has every type of record that a journal can have, with the fields that it really has."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from doc_pages import PAGES, ROOT, read
from samples import answers, loadout, socket
from samples import cast as run_sample
from test_doc_examples import cast, casts

from materiac.agents.scripted import Scripted
from materiac.runtime import chronicle, journal
from materiac.runtime.journal import Record
from materiac.runtime.resume import Allowed, Resumption, resume
from materiac.runtime.run import Result
from materiac.runtime.visit import VisitWaits

RARE = frozenset({"leftovers_ended", "eventing_note", "loop_skipped", "turn_retried", "handoff_chosen"})
"""Types that none of the casts here has to have."""
OPTIONAL = frozenset({"state", "handoff"})
"""Fields that a record need not have."""
PLACE = frozenset({"socket", "materia", "visit", "itemKey", "itemLabel", "stream"})


@dataclass(frozen=True)
class Row:
    """What the page says of a type."""

    has_place: bool
    fields: frozenset[str]

    def found(self, record: Record) -> set[str]:
        """The fields of a record as the page would list them."""
        own = record.fields.keys() - {"format"}
        return set(own - PLACE if self.has_place else own)


def rows() -> Iterator[tuple[str, Row]]:
    table = (
        read("docs/running.md").text.partition("| type | fields | what it tells |")[2].partition("\n\n")[0]
    )
    for line in table.strip().splitlines()[1:]:
        types, fields = line.split(" | ")[:2]
        row = Row("place" in fields, frozenset(re.findall(r"`(\w+)`", fields)))
        yield from ((name, row) for name in re.findall(r"`(\w+)`", types))


TABLE = dict(rows())


def test_every_type_is_told() -> None:
    files = (ROOT / "materiac" / "runtime").glob("*.py")
    texts = [path.read_text(encoding="utf-8") for path in files]
    named = {name for text in texts for name in re.findall(r'(?:append\(\s*|yield )"(\w+)"', text)}
    constants = {text for name, text in vars(chronicle).items() if name.isupper() and isinstance(text, str)}
    assert named | constants | chronicle._NOTES == TABLE.keys()


class Talker:
    """Says one thing, then asks for the final form, and is gone then."""

    def __init__(self, words: list[str | None]) -> None:
        self.words = words

    def say(self, answer: str) -> str | None:
        if not self.words:
            raise VisitWaits(answer)
        return self.words.pop(0)


def go_on(result: Result, agent: Scripted, person: Talker | None = None, **allowed: Any) -> Result:
    return resume(Resumption(result.folder, agent, {}, person=person, allowed=Allowed(**allowed)))


def talked(folder: Path) -> Result:
    """A talk that waits, and a command that fails and runs again, in a budget that warns."""
    sockets = {
        "a": {"materia": "Talk", "edges": [{"to": "b"}]},
        "b": {"materia": "Flaky", "edges": [{"to": "c"}], "limits": {"maxOutputBytes": 3}},
        "c": {"materia": "Says", "parse": "json"},
    }
    flaky = {"command": ["sh", "-c", "test -e fixed && echo many words"]}
    told = {"text": "x", "more": 1, "state": {"satisfied": True}, "event": [{"type": "done"}]}
    says = {"utility": "echo", "params": {"output": told}}
    materia = {"Talk": {"prompt": "Talk.", "multiTurn": True}, "Flaky": flaky, "Says": says}
    config = loadout(sockets, materia=materia, budget={"maxTokens": 100, "warnAtPercent": 10})
    agent = answers(a=["one", "two", {"text": "final", "usage": {"input": 20}}])
    failed = go_on(run_sample(config, folder, agent), agent, Talker(["more", None]))
    (folder / "fixed").touch()
    return go_on(failed, agent, retry=True)


def streamed(folder: Path) -> Result:
    """Streams, of which one fails and goes on."""
    build = {
        "materia": "Build",
        "advance": {"cursor": "workItemIndex", "items": "state.workItems"},
        "edges": [{"to": "build"}],
    }
    sockets = {"plan": {"materia": "Plan", "edges": [{"to": "build"}]}, "build": build, "tell": socket()}
    work = {
        "sockets": ["build"],
        "consumes": {"from": "plan"},
        "exits": [{"from": "build", "targetSocketId": "tell"}],
    }
    materia = {
        "Plan": {"prompt": "Plan.", "generator": True, "parallel": True},
        "Build": {"command": ["sh", "-c", "test -e fixed || ! grep -q WI-2"], "parallelSafe": True},
    }
    streams = [{"name": name, "workItemIndexes": [index]} for index, name in enumerate("ab")]
    plan = {
        "workItems": [{"title": name, "context": name} for name in "ab"],
        "parallelSchedule": {"version": 1, "streams": streams},
    }
    agent = answers(plan=plan)
    failed = run_sample(loadout(sockets, loops={"work": work}, materia=materia), folder, agent)
    (folder / "fixed").touch()
    return go_on(failed, agent, retry=True)


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Record]]:
    """Those of all casts that the pages show, and of two that were gone on with, by type."""
    shown = [
        Path(cast(block, script, tmp_path_factory.mktemp("cast"))["artifacts"])
        for page in PAGES
        for block, script, *_ in casts(page)
    ]
    found: dict[str, list[Record]] = defaultdict(list)
    own = [play(tmp_path_factory.mktemp("cast")) for play in (talked, streamed)]
    assert [result.status for result in own] == ["complete", "complete"]
    for folder in [*shown, *(result.folder for result in own)]:
        for record in journal.read(folder / "events.jsonl").records:
            found[record.type].append(record)
    return found


def test_the_fields_are_those_of_the_records(records: dict[str, list[Record]]) -> None:
    assert TABLE.keys() - records.keys() <= RARE
    for kind, found in records.items():
        row = TABLE[kind]
        seen = set().union(*map(row.found, found))
        assert seen | OPTIONAL == row.fields | OPTIONAL, kind
        for record in found:
            assert row.fields - row.found(record) <= OPTIONAL, kind
            assert not row.has_place or "socket" in record.fields, kind
