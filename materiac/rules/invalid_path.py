"""`invalid-path`: a target, a source or the items of a loop that are no path, or none that leads anywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.path import OUTPUT, ROOTS, PathError, parse_source, parse_target
from materiac.rules.rule import FileView, LoadoutView, Rule, Stage
from materiac.rules.wording import read_as_json
from materiac.source import KEY, Pointer
from materiac.template import references

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph, SocketView


def check(view: LoadoutView) -> Iterator[Finding]:
    for id_, socket in view.graph.sockets.items():
        yield from _in_assign(f"'{id_}'", socket.written.assign, socket.at)
        yield from _of_text(socket)
        yield from _of_known_fields(socket)
    for words, items, at in _lists(view.graph):
        yield from _in_items(words, items, at)


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.materia.items():
        yield from _in_assign(f"materia '{name}'", materia.assign, ("materia", name))
        if materia.type == "agent":
            yield from _in_prompt(name, materia.prompt)
    for name, utility in file.utilities():
        yield from _in_writes(name, utility.writes)


def _in_assign(words: str, assign: Mapping[str, str], at: Pointer) -> Iterator[Finding]:
    for target, source in assign.items():
        here = (*at, "assign", target)
        yield from _unparsed(f"target '{target}' of {words}", target, parse_target, (*here, KEY))
        yield from _unparsed(f"source '{source}' of {words}", source, parse_source, here)


def _unparsed(words: str, text: str, parse: Callable[[str], object], at: Pointer) -> Iterator[Finding]:
    fault = _fault(text, parse)
    if fault is not None:
        yield RULE.finding(f"{words} is no path: {fault}", at)


def _fault(text: str, parse: Callable[[str], object]) -> str | None:
    try:
        parse(text)
    except PathError as error:
        return str(error)
    return None


def _of_text(socket: SocketView) -> Iterator[Finding]:
    """Sources that look into an output which is a text; a generator is told to read JSON anyhow."""
    if socket.parse != "text" or socket.generator:
        return
    for assignment in socket.assign:
        source = assignment.source
        if source.startswith(f"{OUTPUT}.") and _fault(source, parse_source) is None:
            inherited = assignment.at[0] == "materia"
            yield RULE.finding(
                f"source '{source}' of '{socket.id}' looks into an output that is read as text",
                _said(socket) if inherited else assignment.at,
                related=[(assignment.at, "the source, in its materia")] if inherited else (),
                help=read_as_json(socket.id, f", or assign '{OUTPUT}', the text as a whole"),
            )


def _of_known_fields(socket: SocketView) -> Iterator[Finding]:
    """Sources that look into fields that have nothing there, as their types are known."""
    for assignment in socket.assign if socket.parse == "json" else ():
        root, *rest = assignment.source.split(".")
        fault = _beyond(rest) if root in (OUTPUT, "lastJson") else None
        if fault is not None and _fault(assignment.source, parse_source) is None:
            words = f"source '{assignment.source}' of '{socket.id}' leads nowhere: {fault}"
            yield RULE.finding(words, assignment.at)


def _beyond(segments: Sequence[str]) -> str | None:
    """Why there is never anything at a path in an output; None where there may be."""
    match segments:
        case ["event", *_]:
            return "'event' is taken out of the output before"
        case ["satisfied", _, *_]:
            return "'satisfied' is true or false and has nothing below it"
        case ["context" | "text" as field, _, *_]:
            return f"'{field}' is a text and has nothing below it"
        case ["workItems", index, *_] if not index.isdecimal():
            return "'workItems' is a list and has indexes below it"
    return None


def _in_prompt(name: str, prompt: str) -> Iterator[Finding]:
    """References that begin as a path does; other words in braces may be meant as they are."""
    for reference in dict.fromkeys(reference.name for reference in references(prompt)):
        root = reference.split(".")[0]
        fault = _fault(reference, parse_source) if "." in reference and root in ROOTS - {OUTPUT} else None
        if fault is not None:
            yield RULE.finding(
                f"'{{{{{reference}}}}}' in the prompt of materia '{name}' is no path: {fault}",
                ("materia", name, "prompt"),
                help="it stays as it is written; with a '\\' before it that is what it says",
                severity=Severity.WARNING,
            )


def _in_writes(name: str, writes: Sequence[str]) -> Iterator[Finding]:
    for i, key in enumerate(writes):
        if "." in key or _fault(key, parse_target) is not None:
            words = f"materia '{name}' says that it writes '{key}', which is no key of the state"
            yield RULE.finding(
                words, ("materia", name, "writes", i), help="name a key at the top of the state"
            )


def _said(socket: SocketView) -> Pointer:
    return (*socket.at, "parse" if socket.written.parse is not None else "materia")


def _lists(graph: LoadoutGraph) -> Iterator[tuple[str, str, Pointer]]:
    for id_, loop in graph.loadout.loops.items():
        if loop.iterator is not None:
            yield f"loop '{id_}'", loop.iterator.items, (*graph.loop_at(id_), "iterator", "items")
    for id_, socket in graph.sockets.items():
        for key, part in (("foreach", socket.written.foreach), ("advance", socket.written.advance)):
            if part is not None:
                yield f"the '{key}' of '{id_}'", part.items, (*socket.at, key, "items")


def _in_items(words: str, items: str, at: Pointer) -> Iterator[Finding]:
    yield from _unparsed(f"list '{items}' of {words}", items, parse_source, at)
    if items == OUTPUT or items.startswith(f"{OUTPUT}."):
        yield RULE.finding(
            f"list '{items}' of {words} is in the output of one visit, expected a path that lasts",
            at,
            help="assign it to a key of the state, and name that",
        )


RULE = Rule(
    "invalid-path",
    Severity.ERROR,
    "a target, a source or a list is no path",
    Stage.MEANING,
    check=check,
    check_file=check_file,
)
