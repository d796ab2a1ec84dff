"""What we know as the messages of the protocol say it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from lsprotocol import types

from materiac.diagnostic import Located, Place, Severity, worded
from materiac.lsp import hovering
from materiac.lsp.buffers import Buffer, Change, Lines, Spot, Units
from materiac.lsp.looks import Look
from materiac.lsp.offers import Offers
from materiac.lsp.symbols import Symbol
from materiac.source import Span

SOURCE: Final = "materiac"

_SEVERITIES: Final = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}
_UNNECESSARY: Final = frozenset(
    {"dead-edge", "repeated-guard", "unreachable-loop", "unreachable-socket", "unused-assign"}
    | {"unused-suppression"}
)
_SYMBOLS: Final = {
    "loadout": types.SymbolKind.Module,
    "socket": types.SymbolKind.Function,
    "loop": types.SymbolKind.Array,
    "materia": types.SymbolKind.Class,
    "scenario": types.SymbolKind.Event,
}
_OFFERS: Final = {
    "name": types.CompletionItemKind.Reference,
    "key": types.CompletionItemKind.Property,
    "word": types.CompletionItemKind.Keyword,
    "value": types.CompletionItemKind.Value,
    "reference": types.CompletionItemKind.Variable,
}

Locate = Callable[[Place], types.Location | None]


def spot(position: types.Position) -> Spot:
    return Spot(position.line, position.character)


def _position(place: Spot) -> types.Position:
    return types.Position(place.line, place.column)


def range_of(buffer: Buffer, span: Span) -> types.Range:
    start, end = buffer.range(span)
    return types.Range(_position(start), _position(end))


def range_in(text: str, span: Span, units: Units) -> types.Range:
    """A range of a text that is not open."""
    lines = Lines(text, units)
    return types.Range(_position(lines.spot(span.start)), _position(lines.spot(span.end)))


def change(event: Any) -> Change:
    """A change of a text, of a part of it or of all."""
    if isinstance(event, types.TextDocumentContentChangePartial):
        return Change(event.text, spot(event.range.start), spot(event.range.end))
    return Change(event.text)


def diagnostic(buffer: Buffer, part: Located, look: Look, locate: Locate) -> types.Diagnostic:
    """A finding in a buffer; one in a file that it imports stands where it imports that."""
    place, finding = part.place, part.finding
    advice = worded(finding.help, buffer.language)
    message = "\n".join([finding.message, *([advice] if advice else [])])
    related = list(part.related)
    span = Span(0, 0)
    if place is not None and place.source.name == buffer.name:
        span = place.span
    elif place is not None:
        span = _importing(look, place.source.name)
        message = f"in '{place.source.name}': {message}"
        related.insert(0, (place, finding.message))
    page = hovering.page(finding.rule)
    return types.Diagnostic(
        range=range_of(buffer, span),
        message=_whole(message),
        severity=_SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(page.as_uri()) if page else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if finding.rule in _UNNECESSARY else None,
        related_information=list(_related(related, locate)) or None,
    )


def _importing(look: Look, name: str) -> Span:
    """Where a file is imported that a finding is in; the first import, where another one brings it in."""
    first = look.imports[0][0] if look.imports else Span(0, 0)
    return next((span for span, other in look.imports if other == name), first)


def _related(
    parts: Iterable[tuple[Place, str]], locate: Locate
) -> Iterator[types.DiagnosticRelatedInformation]:
    for place, words in parts:
        location = locate(place)
        if location is not None:
            yield types.DiagnosticRelatedInformation(location, _whole(words))


def _whole(text: str) -> str:
    """A text without half characters, as the names of files may have them."""
    return text.encode("utf-8", "replace").decode()


def uri_of(file: Path) -> str:
    return file.as_uri()


def hover(buffer: Buffer, found: hovering.Hover) -> types.Hover:
    content = types.MarkupContent(types.MarkupKind.Markdown, _whole(found.text))
    return types.Hover(content, range_of(buffer, found.span))


def completion(buffer: Buffer, found: Offers, *, whole: bool) -> types.CompletionList:
    """Offers as items that replace what is typed, in their order."""
    where = range_of(buffer, found.span)
    quoted = buffer.source.text.startswith('"', found.span.start) and found.span.start < found.span.end
    items = [
        types.CompletionItem(
            label=offer.label,
            kind=_OFFERS[offer.kind],
            detail=offer.about or None,
            sort_text=f"{index:04}",
            filter_text=offer.text if quoted else None,
            text_edit=types.TextEdit(where, offer.text),
        )
        for index, offer in enumerate(found.offers)
    ]
    return types.CompletionList(is_incomplete=not whole, items=items)


def symbols(buffer: Buffer, found: Sequence[Symbol]) -> list[types.DocumentSymbol]:
    return [
        types.DocumentSymbol(
            name=symbol.name or "?",
            kind=_SYMBOLS[symbol.kind],
            detail=symbol.about.partition("\n")[0] or None,
            range=range_of(buffer, symbol.whole),
            selection_range=range_of(buffer, symbol.named),
            children=symbols(buffer, symbol.parts),
        )
        for symbol in found
    ]


def text_edits(buffer: Buffer, edits: Iterable[tuple[Span, str]]) -> list[types.TextEdit]:
    return [types.TextEdit(range_of(buffer, span), new) for span, new in edits]


def workspace_edit(
    buffer: Buffer, edits: Sequence[tuple[Span, str]], *, versioned: bool
) -> types.WorkspaceEdit:
    """Edits of a buffer, held to its version where the editor knows of versions."""
    made = text_edits(buffer, edits)
    if not versioned:
        return types.WorkspaceEdit(changes={buffer.uri: made})
    document = types.OptionalVersionedTextDocumentIdentifier(buffer.uri, buffer.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, list(made))])
