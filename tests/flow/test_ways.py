"""A way is found exactly where some cast goes one, and it is the shortest: against every cast there is."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from random import Random

import pytest
from random_casts import Sample, sample

from materiac.flow.ground import Ground
from materiac.flow.ways import CUT, Cut, Outcome, Way, feasible_way
from materiac.names import END
from materiac.program import Program, Socket
from materiac.properties import BROKEN, AtMost, Comes, Mode, Never, Passes, Property
from materiac.scenario import walk
from materiac.scenario.elements import verdicts
from materiac.scenario.walk import Choice, Walker

PLAN = ("workItems",)
LONGEST = 2
MOST = 3_000
"""Loadouts with more casts than this are left out."""


class Everything(walk.Ground):
    """All answers; and every output in JSON may send work items where nobody has sent any."""

    def __init__(self, program: Program, longest: int = LONGEST) -> None:
        super().__init__(program)
        self.lengths = range(longest + 1)

    def _choices(self, socket: Socket) -> Iterator[Choice]:
        lists = list(self.writers.lists_of(socket))
        planned = any(loop.items in ("state.workItems", "workItems") for loop in self.program.loops.values())
        if planned and socket.parse == "json" and PLAN not in lists:
            lists.append(PLAN)
            yield from (Choice(socket.id, verdict) for verdict in verdicts(self.program, socket))
        for verdict in verdicts(self.program, socket):
            for lengths in product(self.lengths, repeat=len(lists)):
                yield Choice(socket.id, verdict, tuple(zip(lists, lengths, strict=True)))


def casts(walker: Walker) -> Iterator[tuple[str | None, Walker]]:
    """What a cast may come to next: a node of the graph, and the cast behind it; it may have to go on."""
    here = walker.fork()
    if walker.at == END:
        yield END, here
        return
    step = here.come()
    if step is not None:
        loop = here.ground.program.sockets[walker.at].loop
        yield (None if step.status == "failed" else f"past:{loop}"), here
        return
    yield walker.at, here


def answers(here: Walker) -> Iterator[Walker]:
    """A cast after each answer that its visit may give, and that does not fail it."""
    program = here.ground.program
    sent = PLAN in here.lengths and not program.materia[program.sockets[here.at].materia].generator
    for choice in here.ground.choices[here.at]:
        lengths = tuple(pair for pair in choice.lengths if pair[0] != PLAN or not sent)
        after = here.fork()
        if after.answer(replace(choice, lengths=lengths)).status != "failed":
            yield after


def shortest(program: Program, rule: Property) -> int | None:
    """How many nodes the shortest way has that breaks a property; None where there is none."""
    ground = Everything(program)
    start = Walker.start(ground)
    seen: set[object] = set()
    waiting: deque[tuple[Walker, Mode, int]] = deque([(start, rule.start, 1)])
    while waiting:
        walker, mode, length = waiting.popleft()
        if walker.at == END:
            if rule.step(mode, END) == BROKEN:
                return length
            continue
        key = walker.standing(ground.bounded, guard=True), mode
        if key in seen:
            continue
        seen.add(key)
        if len(seen) > MOST:
            raise TooManyError
        node, here = next(casts(walker))
        if node is None:
            continue
        if node not in program.sockets:
            waiting.append((here, mode, length + 1))
            continue
        after = rule.step(mode, node)
        if after == BROKEN:
            return length
        waiting.extend((later, after, length + 1) for later in answers(here))
    return None


class TooManyError(Exception):
    """A loadout has too many casts to try them all."""


def rules(seed: int, names: Sequence[str]) -> Iterator[Property]:
    """A property of each form, about whatever sockets."""
    chance = Random(seed)  # noqa: S311 (no secret depends on it)
    one, two = chance.sample([*names, END], 2)
    a, b, c = (chance.choice(names) for _ in range(3))
    yield Never(one, two)
    yield Passes(a, chance.choice((b, END)), c)
    if a != b:
        yield Comes(a, b)
    yield AtMost(chance.randint(0, 4), a, b, chance.choice((c, b, END)))


def searched(case: Sample, rule: Property, longest: float = LONGEST) -> Way | Cut | None:
    def step(mode: Mode, node: str) -> Mode | Outcome:
        after = rule.step(mode, node)
        return Outcome.GOAL if after == BROKEN else after

    return feasible_way(Ground(case.graph, case.cycles, longest=longest), rule.start, step)


def is_gone(program: Program, way: Way, longest: int = LONGEST) -> bool:
    """Whether some cast goes a way."""
    ground = Everything(program, longest)
    walkers = [Walker.start(ground)]
    for node in way[:-1]:
        come = [here for walker in walkers for at, here in casts(walker) if at == node]
        found = come if node not in program.sockets else (after for here in come for after in answers(here))
        walkers = list({walker.standing(ground.bounded, guard=True): walker for walker in found}.values())
    return any(node == way[-1] for walker in walkers for node, _ in casts(walker))


def compare(seeds: range, least: int) -> None:
    cases = 0
    for seed in seeds:
        case = sample(seed)
        names = [node for node in case.graph.reached if node in case.graph.sockets]
        for rule in rules(seed, names):
            try:
                expected = shortest(case.program, rule)
            except TooManyError:
                break
            way = searched(case, rule)
            assert way is not CUT
            assert (len(way) if way else None) == expected, f"seed {seed}: {rule}: {way}"
            assert way is None or is_gone(case.program, way)
            freely = searched(case, rule, inf)
            assert freely is not CUT
            assert way is None or (freely is not None and len(freely) <= len(way))
            assert freely is None or is_gone(case.program, freely, 5)
            cases += 1
    assert cases >= least


def test_ways_are_those_of_casts() -> None:
    compare(range(30), 100)


@pytest.mark.slow
def test_ways_of_many_loadouts_are_those_of_casts() -> None:
    compare(range(30, 680), 2_000)
