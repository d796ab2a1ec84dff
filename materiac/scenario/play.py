"""Playing a scenario: the cast in a scratch folder, with everybody's answers written down beforehand."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from materiac.agents.protocol import AgentError, Request
from materiac.agents.scripted import Script, Scripted
from materiac.diagnostic import Located
from materiac.process import Completed
from materiac.program import Image, Program
from materiac.runtime.journal import Record
from materiac.runtime.run import Order, run
from materiac.runtime.visit import Json, Visit, VisitWaits
from materiac.scenario.expectations import Aftermath, Misfit, misfits
from materiac.scenario.model import Scenario, prompt_of
from materiac.scenario.read import Placed, misplaced, unknown_name

_MEMORY: Final = Path("/dev/shm")  # noqa: S108 - the folder in it gets a name of its own


@dataclass(frozen=True)
class Played:
    """What came of a scenario: nothing amiss where `misfits` is empty. `seconds` is what it took."""

    misfits: tuple[Misfit, ...]
    result: Json
    records: tuple[Record, ...]
    seconds: float


def play(scenario: Scenario, image: Image, environ: Mapping[str, str]) -> Played:
    """Run a scenario whose names `faults` has found nothing wrong with."""
    room = _room(scenario, image.program)
    with tempfile.TemporaryDirectory(prefix="materiac-test-", dir=room, ignore_cleanup_errors=True) as name:
        scratch = Path(name).resolve()
        work = scratch / "work"
        work.mkdir()
        _lay_out(scenario.files, work)
        records: list[Record] = []
        order = Order(
            image=image,
            request=scenario.request,
            agent=Scripted("scripted:scenario", scenario.agent),
            cwd=work,
            artifacts=scratch / "casts",
            # git looks for a repository around the scratch folder otherwise.
            environ={**environ, "GIT_CEILING_DIRECTORIES": str(scratch)},
            person=None if scenario.person is None else _Person(scenario.person),
            watchers=[records.append],
            state=scenario.state,
            stand_in=_StandIn(scenario, work),
            durable=False,
        )
        outcome = run(order)
        if outcome.status == "stopped":
            raise KeyboardInterrupt
        after = Aftermath(image.program, outcome.as_data(), tuple(records), outcome.folder, work)
        found = misfits(scenario.expect, after)
        return Played(tuple(found), after.result, after.records, outcome.seconds)


def _room(scenario: Scenario, program: Program) -> Path | None:
    """Where the scratch folder lies: in memory, if there is room and no command runs in it."""
    runs = any(
        program.materia[socket.materia].utility is not None and socket.id not in scenario.utilities
        for socket in program.sockets.values()
    )
    usable = _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)
    return _MEMORY if usable and not runs and "TMPDIR" not in os.environ else None


def _lay_out(files: Mapping[str, str], work: Path) -> None:
    for name, content in files.items():
        file = work / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")


class _Person:
    """Says what is written down; waits when nothing is left."""

    def __init__(self, words: list[str | None]) -> None:
        self._words = iter(words)

    def say(self, answer: str) -> str | None:
        for words in self._words:
            return words
        raise VisitWaits(f"the person of the scenario has nothing more to say to: {answer.strip()[:200]}")


class _StandIn:
    """Answers for the utilities that a scenario has answers for."""

    def __init__(self, scenario: Scenario, work: Path) -> None:
        self._work = work
        self._known = scenario.utilities.keys()
        self._script = Scripted(
            "scripted:scenario", Script().model_copy(update={"sockets": scenario.utilities})
        )

    def __call__(self, visit: Visit) -> Completed | None:
        utility = visit.materia.utility
        if utility is None or visit.socket.id not in self._known:
            return None
        request = Request(
            prompt="",
            socket=visit.socket.id,
            materia=visit.materia.name,
            visit=visit.number,
            turn=1,
            cwd=self._work,
            item_key=visit.item.key if visit.item else None,
            tools=("write",),
            timeout_s=utility.timeout_ms / 1000,
        )
        try:
            reply = self._script.turn(request)
        except AgentError as error:
            return _completed("", str(error), code=None)
        return _completed(reply.text, reply.error or "", code=0 if reply.error is None else 1)


def _completed(stdout: str, stderr: str, *, code: int | None) -> Completed:
    out, err = stdout.encode("utf-8", "surrogatepass"), stderr.encode("utf-8", "surrogatepass")
    return Completed(out, err, len(out), len(err), code, None, timed_out=code is None, seconds=0.0)


def faults(placed: Placed, program: Program) -> list[Located]:
    """What a scenario names that its loadout does not have."""
    return [*_unknown(placed, program), *_misplaced(placed, program)]


def _unknown(placed: Placed, program: Program) -> Iterator[Located]:
    known = list(program.sockets)
    for name, loc in _names(placed.scenario):
        if name not in program.sockets:
            yield unknown_name(placed, name, known, *loc)


def _names(scenario: Scenario) -> Iterator[tuple[str, tuple[str | int, ...]]]:
    """Every socket that a scenario names, and where."""
    expect = scenario.expect
    yield from ((name, ("agent", "sockets", name)) for name in scenario.agent.sockets)
    yield from ((name, ("utilities", name)) for name in scenario.utilities)
    yield from ((name, ("expect", "path", index)) for index, name in enumerate(expect.path or ()))
    yield from ((name, ("expect", "pathHas", index)) for index, name in enumerate(expect.path_has or ()))
    yield from ((name, ("expect", "visits", name)) for name in expect.visits or ())
    yield from ((prompt_of(key)[0], ("expect", "prompts", key)) for key in expect.prompts)


def _misplaced(placed: Placed, program: Program) -> Iterator[Located]:
    utilities = {s.id for s in program.sockets.values() if program.materia[s.materia].agent is None}
    for name in placed.scenario.agent.sockets:
        if name in utilities:
            words, advice = f"'{name}' is a utility, which no agent answers for", "put it into 'utilities'"
            yield misplaced(placed, words, advice, "agent", "sockets", name)
    for name in placed.scenario.utilities:
        if name in program.sockets and name not in utilities:
            words, advice = f"'{name}' is no utility", "put it into 'sockets' of 'agent'"
            yield misplaced(placed, words, advice, "utilities", name)
