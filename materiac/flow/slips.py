"""Words in braces that mean nothing and are a letter away from one that does.

Prompts may have braces in them that are no references, such as templates of other tools. So only a word
that is like a known one of some length counts, and no plural of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from materiac import model
from materiac.flow.accesses import Read, accesses
from materiac.graph import LoadoutGraph
from materiac.names import slip
from materiac.path import ITEM_NAMES, ROOTS, PathError, parse_source
from materiac.template import WHOLE, references

_LEAST: Final = 5
"""Shorter words are a letter away from too many others. Words of this length are it from those with another
letter in them."""


class Slip(NamedTuple):
    """A reference in the prompt of a socket, and the word that may be meant by its first one."""

    node: str
    read: Read
    near: str


def slips(graph: LoadoutGraph) -> Iterator[Slip]:
    """The words that may be misspelt, in the order in which casts come to them."""
    meant = frozenset({*WHOLE, *ROOTS, *ITEM_NAMES, *accesses(graph).keys, *_aliases(graph)})
    known = frozenset(word for word in meant if len(word) >= _LEAST)
    for id_ in graph.reached:
        socket = graph.sockets.get(id_)
        if socket is not None and isinstance(socket.materia, model.AgentMateria):
            at = ("materia", socket.written.materia, "prompt")
            for name in dict.fromkeys(part.name for part in references(socket.materia.prompt)):
                word = _word(name)
                near = _near(word, known) if word is not None and word not in meant else None
                if word is not None and near is not None:
                    yield Slip(id_, Read(("prompt", word), "{{" + name + "}}", at, "prompt"), near)


def _aliases(graph: LoadoutGraph) -> Iterator[str]:
    return (loop.alias for loop in graph.loops.values())


def _word(name: str) -> str | None:
    """The first word of what could be a reference."""
    try:
        path = parse_source(name)
    except PathError:
        return None
    return path.segments[0] if path.bare else None


def _near(word: str, known: frozenset[str]) -> str | None:
    near = slip(word, known)
    if (
        near is None
        or word == f"{near}s"
        or (len(near) == _LEAST and len(word) == _LEAST and not _turned(word, near))
    ):
        return None
    return near


def _turned(word: str, near: str) -> bool:
    """Whether the letters are the same."""
    return sorted(word) == sorted(near)
