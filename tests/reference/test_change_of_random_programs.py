"""Whatever is edited in a program: something is told of it if and only if the digest is another."""

from __future__ import annotations

import copy
import functools
import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_loadouts import play
from samples import FEATURES, compiled

from materiac.change import changes
from materiac.comparison import compare, text
from materiac.pipeline import Text, compile_loadout
from materiac.program import END, Program, from_data, to_data

Json = dict[str, Any]
SEEDS = range(60)
TEXTS = ("prompt", "label", "name", "model", "to", "when")


@functools.cache
def programs() -> list[Program]:
    """Those of the samples with more than one socket, and of random loadouts that are sound."""
    texts = (Text("random.json", json.dumps(play(seed).config).encode()) for seed in SEEDS)
    images = [compile_loadout([text]).image for text in texts]
    samples = [compiled(FEATURES[name]).program for name in FEATURES]
    return [program for program in samples if len(program.sockets) > 1] + [i.program for i in images if i]


def pointers(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(pointer for key, part in inner for pointer in pointers(part, (*at, key)))]


def part_at(data: Any, pointer: tuple[Any, ...]) -> Any:
    return functools.reduce(lambda part, key: part[key], pointer, data)


@functools.cache
def values() -> dict[Any, list[Any]]:
    """What is found in the programs at the same place of any part, so that an edit leaves a program."""
    found: dict[Any, list[Any]] = {}
    for data in map(to_data, programs()):
        for pointer in pointers(data)[1:]:
            known, value = found.setdefault(place(pointer), []), part_at(data, pointer)
            if value not in known:
                known.append(value)
    return found


@st.composite
def edits(draw: st.DrawFn) -> tuple[Program, Program]:
    """A program, and the same with something else, less, twice or in another order at one place."""
    program = draw(st.sampled_from(programs()))
    data = to_data(program)
    found = pointers(data)[1:]
    lists = [pointer for pointer in found if is_long(part_at(data, pointer)) and not is_pair(pointer)]
    moved = draw(st.booleans())
    pointer = draw(st.sampled_from(lists if moved else found))
    holder, value = part_at(data, pointer[:-1]), copy.deepcopy(part_at(data, pointer))
    if moved:
        holder[pointer[-1]] = draw(st.permutations(value))
    elif isinstance(holder, list) and not is_pair(pointer[:-1]):
        holder[pointer[-1] : pointer[-1] + 1] = draw(st.sampled_from([[], [value, value]]))
    elif isinstance(value, str) and pointer[-1] in TEXTS and draw(st.booleans()):
        holder[pointer[-1]] = draw(st.text())
    elif not isinstance(holder, list):
        holder[pointer[-1]] = copy.deepcopy(draw(st.sampled_from(values()[place(pointer)])))
    return program, from_data(data)


def is_long(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1


def place(pointer: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(key if isinstance(key, str) else None for key in pointer)


def is_pair(pointer: tuple[Any, ...]) -> bool:
    """Whether this is an assignment, whose two paths stay as they are."""
    return pointer[-2:-1] == ("assign",)


def test_there_are_programs_to_be_edited() -> None:
    assert len(programs()) > 25
    assert any(program.regions or program.properties for program in programs())


@given(edits())
def test_changes_are_told_if_and_only_if_there_are_any(pair: tuple[Program, Program]) -> None:
    old, new = pair
    for one, other in ((old, new), (new, old)):
        found = changes(one, other)
        assert (found == ()) is (one.digest() == other.digest())
        assert all(str(change).isprintable() for change in found)


def leads_somewhere(program: Program) -> bool:
    """Whether all names are known, as in every program that is compiled."""
    loops, regions = program.loops.values(), program.regions.values()
    named = {program.entry, *(edge.to for socket in program.sockets.values() for edge in socket.edges)}
    named |= {socket.advance.done or END for socket in program.sockets.values() if socket.advance}
    named |= {to for loop in loops for to in (loop.done, loop.empty, *loop.sockets)}
    named |= {end for loop in loops for way in loop.exits for end in (way.source, way.to)}
    named |= {id_ for region in regions for id_ in (region.generator, *region.prelude, region.after)}
    known = {socket.loop for socket in program.sockets.values()} | {region.loop for region in regions}
    return named <= {END, *program.sockets} and known <= {None, *program.loops}


@given(edits())
def test_a_comparison_is_empty_if_and_only_if_nothing_changed(pair: tuple[Program, Program]) -> None:
    old, new = pair
    assume(leads_somewhere(new))
    compared = compare(old, new)
    shown = text.render([compared], colour=False)
    assert compared.same is (shown == "") is (old.digest() == new.digest())
    assert all(line.isprintable() for line in shown.splitlines())


@given(st.data())
def test_programs_of_their_own(data: st.DataObject) -> None:
    one, other = (data.draw(st.sampled_from(programs())) for _ in range(2))
    assert (changes(one, other) == ()) is (one.digest() == other.digest())


@pytest.mark.parametrize("seed", SEEDS[:5])
def test_a_program_is_not_changed_by_being_written_and_read(seed: int) -> None:
    program = programs()[seed]
    assert changes(program, from_data(json.loads(json.dumps(to_data(program))))) == ()
