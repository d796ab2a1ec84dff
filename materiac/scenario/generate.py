"""Making scenarios for a loadout: those that together take every way that there is."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from materiac.program import Image, Program, Socket
from materiac.runtime.follow_up import TITLE
from materiac.runtime.journal import Record
from materiac.scenario.answers import TEXT, Writers, output
from materiac.scenario.elements import Element, Key, elements, taken
from materiac.scenario.model import Scenario
from materiac.scenario.play import play
from materiac.scenario.search import MOST_PLACES, Walk, plan
from materiac.scenario.walk import Choice

Json = dict[str, Any]

UNREADABLE = "I have to think about this."
"""What a socket that reads JSON answers before its repair turn."""


@dataclass(frozen=True)
class Generated:
    """The scenarios, what none of them came to, and whether a search for it hit its bound."""

    scenarios: list[Json]
    missed: list[Element]
    cut: bool


def generate(image: Image, environ: Mapping[str, str], most: int = MOST_PLACES) -> Generated:
    """Scenarios whose expectations are what came of running them."""
    program = image.program
    planned = plan(program, most)
    writers, known = Writers(program), elements(program)
    left = {element.key: element for element in known}
    unrepaired = {element.of for element in known if element.kind == "repair"}
    scenarios = []
    for number, walk in enumerate(planned.walks, 1):
        script = _Answers(program, writers, unrepaired)
        for choice in _choices(walk):
            script.answer(choice)
        data = script.as_data()
        result, covered, prompts = _ran(data, image, environ)
        fresh = [left.pop(key) for key in list(left) if key in covered]
        scenarios.append(_scenario(number, data, result, prompts, fresh))
    return Generated(scenarios, list(left.values()), planned.cut)


def _choices(walk: Walk) -> Iterator[Choice]:
    return (step.choice for step in walk if step.choice is not None)


def _ran(data: Json, image: Image, environ: Mapping[str, str]) -> tuple[Json, set[Key | None], Json]:
    """What came of a walk, what it covered, and which prompts say that a visit is rework."""
    made = {"name": "made", **data}
    played = play(Scenario.model_validate(made), image, environ)
    prompts = {prompt: {"has": TITLE} for prompt in _reworks(played.records)}
    if prompts:
        told = play(Scenario.model_validate({**made, "expect": {"prompts": prompts}}), image, environ)
        untold = {misfit.loc[1] for misfit in told.misfits if misfit.loc[0] == "prompts"}
        prompts = {prompt: wanted for prompt, wanted in prompts.items() if prompt not in untold}
    return played.result, {taken(image.program, record) for record in played.records}, prompts


def _reworks(records: Iterable[Record]) -> Iterator[str]:
    """The first visit behind each edge that sends something back."""
    seen: set[tuple[str, int]] = set()
    visits: Counter[str] = Counter()
    back = False
    for record in records:
        fields = record.fields
        if record.type == "socket_started":
            visits[fields["socket"]] += 1
            if back:
                yield f"{fields['socket']}#{visits[fields['socket']]}"
        elif record.type == "socket_finished":
            route = fields["route"]
            edge = fields["socket"], route["edge"]
            back = route["kind"] == "edge" and route["when"] == "not_satisfied" and edge not in seen
            seen.add(edge)


def _scenario(number: int, data: Json, result: Json, prompts: Json, fresh: Iterable[Element]) -> Json:
    visits = len(result["path"])
    failure = result["failure"]
    outcome = f"{failure['kind']} at {failure['socket']}" if failure else result["status"]
    expect: Json = {"failure": failure["kind"]} if failure else {"status": result["status"]}
    covers = "; ".join(element.words for element in fresh if element.kind != "socket")
    return {
        "name": f"{number}: {outcome} after {visits} visit{'' if visits == 1 else 's'}",
        **({"about": f"the first to cover: {covers}"} if covers else {}),
        **data,
        "expect": {**expect, "path": result["path"], **({"prompts": prompts} if prompts else {})},
    }


class _Answers:
    """Who answers what in a walk. The first answer of each socket in `unrepaired` is one to be repaired."""

    def __init__(self, program: Program, writers: Writers, unrepaired: set[str]) -> None:
        self._program, self._writers, self._unrepaired = program, writers, unrepaired
        self._agents: dict[str, list[Any]] = defaultdict(list)
        self._utilities: dict[str, list[Any]] = defaultdict(list)
        self._talks = 0

    def answer(self, choice: Choice) -> None:
        """One more visit."""
        socket = self._program.sockets[choice.socket]
        lengths = dict(choice.lengths)
        made = output(self._program, socket, self._writers, choice.verdict, lengths)
        answer = {"json": made} if isinstance(made, dict) else made
        agent = self._program.materia[socket.materia].agent
        if agent is None:
            self._utilities[socket.id].append(answer)
            return
        if agent.multi_turn:
            self._talks += 1
            self._agents[socket.id].append(TEXT)
        self._agents[socket.id] += [*self._slip(socket), answer]

    def _slip(self, socket: Socket) -> list[str]:
        if socket.id not in self._unrepaired:
            return []
        self._unrepaired.remove(socket.id)
        return [UNREADABLE]

    def as_data(self) -> Json:
        """The parts of a scenario that say who answers."""
        agents = {
            id_: _shortened(answers)
            for id_, answers in self._agents.items()
            if any(a != TEXT for a in answers)
        }
        utilities = {id_: _shortened(answers) for id_, answers in self._utilities.items()}
        data: Json = {}
        if agents:
            data["agent"] = {"sockets": agents}
        if utilities:
            data["utilities"] = utilities
        if self._talks:
            data["person"] = [None] * self._talks
        return data


def _shortened(answers: list[Any]) -> Any:
    """Answers without those at the end that are repeated anyway."""
    end = len(list(itertools.takewhile(lambda answer: answer == answers[-1], reversed(answers))))
    kept = answers[: len(answers) - end + 1]
    return kept[0] if len(kept) == 1 else kept
