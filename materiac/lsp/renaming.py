"""Another name for a socket, at all its places in a file.

What comes of the edits is read again: they are made only if the text then says the same with the other name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from materiac import dsl_phrases, json_print, json_text, names
from materiac.dsl_tree import STRING, WORD, Node, Token, first, string_value
from materiac.lsp import cursors
from materiac.lsp.looks import Behaviour
from materiac.lsp.mentions import Mention
from materiac.lsp.reading import Reading
from materiac.lsp.refusals import RefusedError
from materiac.source import KEY, Document, Pointer, Source, Span
from materiac.template import references

Edit = tuple[Span, str]

NOTHING: Final[Mapping[str, Behaviour]] = MappingProxyType({})

_DSL_NAME: Final = re.compile(rf"{STRING}|{WORD.pattern}")
_ANSWERS: Final = frozenset({"answer", "raw_answers"})


class _Write(NamedTuple):
    """A part of the value that is written anew: a key, where the pointer ends with `KEY`."""

    at: Pointer
    value: str


def rename(
    reading: Reading, mention: Mention, new: str, below: Mapping[str, Behaviour] = NOTHING
) -> list[Edit]:
    """The edits that give a socket another name, in order; `below` are the materia of all layers.

    Raises `RefusedError`.
    """
    wrong = names.fault(new, spaces=False)
    if wrong is not None:
        raise RefusedError(f"socket name '{new}' {wrong}")
    found = renamable(reading, mention)
    if any(other.defines for other in reading.named("socket", mention.loadout, new)):
        raise RefusedError(f"loadout '{mention.loadout}' has a socket '{new}'")
    own = next(other.at[:-1] for other in found if other.defines)
    read = (_Write(at, value) for at, value in cursors.changes(reading.document.data, own, new, below))
    writes = [*_writes(found, new), *read]
    edits = sorted({*_edits(reading.document, writes), *_answers(reading.document, found, new)})
    if not _says_so(reading.document, edits, writes):
        raise RefusedError(f"the text would say something else with '{new}' for '{mention.name}'")
    return edits


def renamable(reading: Reading, mention: Mention) -> list[Mention]:
    """The places of a socket that can have another name. Raises `RefusedError`."""
    if mention.kind != "socket":
        raise RefusedError(f"'{mention.name}' is a {mention.kind}: sockets alone can be renamed")
    if mention.name == names.END:
        raise RefusedError("'end' is the end of a cast, and no socket")
    found = reading.of(mention)
    if not any(other.defines for other in found):
        raise RefusedError(f"no socket '{mention.name}' is written in this file")
    return found


def inside(reading: Reading, mention: Mention) -> Span:
    """Where a name stands, without its quotes and what may follow it."""
    start, end = reading.span(mention)
    quote = int(reading.document.source.text.startswith('"', start))
    return Span(start + quote, start + quote + len(mention.name) if mention.part else end - quote)


def _writes(found: Sequence[Mention], new: str) -> Iterator[_Write]:
    for mention in found:
        key = mention.at[-2] if mention.part else ""
        yield _Write(mention.at, new + str(key)[len(mention.name) :] if mention.part else new)


def _value(data: Any, at: Pointer) -> Any:
    for part in at:
        if not isinstance(data, dict) or part not in data:
            return None
        data = data[part]
    return data


def _edits(document: Document, writes: Sequence[_Write]) -> Iterator[Edit]:
    for write in writes:
        place = document.spans.get(write.at)
        if place is not None:
            yield _edit(document, place, write)


def _edit(document: Document, place: Span, write: _Write) -> Edit:
    text = document.source.text[place.start : place.end]
    if write.at[-1] in ("prompt", "systemPrompt"):
        at = write.at
        before = _value(document.data, at)
        return place, _respelt(text, str(before), write.value)
    if document.source.language == "json":
        return place, json_print.quoted(write.value)
    return _dsl_edit(text, place, write)


def _dsl_edit(text: str, place: Span, write: _Write) -> Edit:
    value = write.value
    match = _DSL_NAME.match(text)
    if match is not None and write.at[-1] is KEY and "prompts" in write.at[-3:-1]:
        # The key is written as two words: the name, and the number of the visit.
        place, value = Span(place.start, place.start + match.end()), value.rpartition("#")[0]
    quoted = text.startswith('"')
    return place, json_print.quoted(value) if quoted else dsl_phrases.name(value)


def _respelt(text: str, before: str, after: str) -> str:
    """The same change in a text as it is written, where that is one word for another."""
    old, new = ([part.name for part in references(prompt)] for prompt in (before, after))
    for one, other in {pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]}:
        parts = re.split(rf"((?<!\\)\{{\{{\s*){re.escape(one)}(?=\s*\}}\}})", text)
        text = "".join(part + other if index % 2 else part for index, part in enumerate(parts))
    return text


def _answers(document: Document, found: Sequence[Mention], new: str) -> Iterator[Edit]:
    """The names of a socket that has several answers in a scenario: each is a statement."""
    if document.source.language == "json":
        return
    answered = {(m.at[1], m.at[2]): m.name for m in found if m.at[0] == "scenarios" and m.at[-1] is KEY}
    text = document.source.text
    for index, part, answer in _statements(text) if answered else ():
        token = first(answer)
        if string_value(text, token)[0] == answered.get((index, part)):
            yield Span(token.start_pos, token.end_pos), _spelt(text, token, new)


def _statements(text: str) -> Iterator[tuple[int, str, Node]]:
    """The answers of the scenarios of a text: the scenario, the part of it, the statement."""
    from materiac import dsl_text  # noqa: PLC0415 - what is JSON does without the grammar

    tree, _ = dsl_text.parse(text)
    scenarios = [part for part in tree.children if isinstance(part, Node)] if tree else []
    scenarios = [part for part in scenarios if part.data == "scenario"]
    for index, scenario in enumerate(scenarios):
        for part in scenario.children:
            if isinstance(part, Node) and part.data in ("answering", "utilities"):
                key = "agent" if part.data == "answering" else "utilities"
                for answer in part.children:
                    if isinstance(answer, Node) and answer.data in _ANSWERS:
                        yield index, key, answer


def _spelt(text: str, token: Token, new: str) -> str:
    return json_print.quoted(new) if text.startswith('"', token.start_pos) else dsl_phrases.name(new)


def _says_so(document: Document, edits: Sequence[Edit], writes: Sequence[_Write]) -> bool:
    source = document.source
    after = _read(Source(source.name, applied(source.text, edits), source.language))
    wanted = _read(source)
    if after is None or wanted is None:
        return False
    for write in sorted(writes, key=lambda write: len(write.at), reverse=True):
        _write(wanted.data, write)
    return bool(after.data == wanted.data)


def _read(source: Source) -> Document | None:
    if source.language == "json":
        return json_text.read(source)[0]
    from materiac import dsl_text  # noqa: PLC0415 - what is JSON does without the grammar

    return dsl_text.read(source)[0]


def applied(text: str, edits: Sequence[Edit]) -> str:
    """A text with edits made in it, which are in order and do not overlap."""
    parts, end = [], 0
    for place, new in edits:
        parts += [text[end : place.start], new]
        end = place.end
    return "".join([*parts, text[end:]])


def _write(data: Any, write: _Write) -> None:
    *way, last = write.at
    if last is not KEY:
        _below(data, way)[last] = write.value
        return
    *way, old = way
    inside = _below(data, way)
    members = [(write.value if key == old else key, value) for key, value in inside.items()]
    inside.clear()
    inside.update(members)


def _below(data: Any, way: Sequence[Any]) -> Any:
    for part in way:
        data = data[part]
    return data
