"""Ways to let a member stand elsewhere, as it is written; its lines are indented as they should be there."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

from materiac.fixing import adding, laying, removing
from materiac.fixing.inserting import New
from materiac.fixing.pieces import TextEdit
from materiac.fixing.written import around, extent
from materiac.json_print import quoted
from materiac.source import KEY, Document, Pointer, Span


def ways(document: Document, at: Pointer, to: Pointer) -> Iterator[list[TextEdit]]:
    """Edits that may let what is at a pointer stand at another one."""
    if document.source.language == "json" and to[:-2] == at[:-1] and to[:-1] not in document.spans:
        yield from _wrapped(document, at, to)
    if document.source.language == "dsl" and len(at) == 1:
        yield from _as_statement(document, at, to)
    for taken, added in product(removing.ways(document, at), _added(document, at, to)):
        edits = sorted([*taken, *added])
        if all(one[1] <= other[0] for one, other in pairwise(edits)):
            yield edits


def _wrapped(document: Document, at: Pointer, to: Pointer) -> Iterator[list[TextEdit]]:
    """In its place, within a new object."""
    key, value = document.spans[(*at, KEY)], document.spans[at]
    text = around(document)
    outer = text.indent(value.start)
    inner = outer + laying.unit(document)
    member = f"{quoted(str(to[-1]))}: {laying.moved(document, value, inner)}"
    pad = laying.padded(text.text)
    if text.has_break(value.start, value.end):
        member = f"{{{text.line_break}{inner}{member}{text.line_break}{outer}}}"
    else:
        member = f"{{{pad}{member}{pad}}}"
    yield [(key.start, key.end, quoted(str(to[-2]))), (value.start, value.end, member)]


def _as_statement(document: Document, at: Pointer, to: Pointer) -> Iterator[list[TextEdit]]:
    """In its place, an attribute as a statement."""
    from materiac.dsl_phrases import name  # noqa: PLC0415 - what is JSON does without the grammar

    here, value = extent(document, at), document.spans.get(at)
    if here is not None and value is not None and len(to) == len(("loadouts", "name")):
        head = f"{str(to[0]).removesuffix('s')} {name(str(to[1]))} = "
        yield [(here.start, value.start, head)]


def _added(document: Document, at: Pointer, to: Pointer) -> Iterator[list[TextEdit]]:
    if at not in document.spans:
        return iter(())
    text, beside = around(document), document.spans.get(to[:-1], Span(0, 0))
    target = text.indent(beside.start)
    if document.source.language == "json" and text.has_break(*beside):
        target += laying.unit(document)
    moved = laying.moved(document, document.spans[at], target)
    return adding.ways(document, to[:-1], New(str(to[-1]), None, moved))
