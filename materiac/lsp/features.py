"""What the server does for an editor, request by request: each answers from a buffer as it was then."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from lsprotocol import types

from materiac.diagnostic import Severity
from materiac.lsp import actions, hovering, navigation, offers, renaming, symbols, wire
from materiac.lsp.buffers import Buffer
from materiac.lsp.looks import Mending, Trials, Visits
from materiac.lsp.mentions import Mention
from materiac.lsp.reading import Reading
from materiac.lsp.refusals import RefusedError
from materiac.lsp.server import Server

FIX_ALL: Final = "source.fixAll.materiac"

_QUICK: Final = types.CodeActionKind.QuickFix.value
_TRIGGERS: Final = ('"', ":", " ", ">", ".", "{", "(", ",", "@")

Answer = Callable[[Server, Buffer, Any], Any]


def register(server: Server) -> None:
    """Let a server answer."""
    options: dict[str, Any] = {
        types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=_TRIGGERS),
        types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(code_action_kinds=[_QUICK, FIX_ALL]),
    }
    for method, answer in _ANSWERS.items():
        _register(server, method, answer, options.get(method))


def _register(server: Server, method: str, answer: Answer, options: Any) -> None:
    async def answered(params: Any) -> Any:
        return await server.ask(params.text_document.uri, lambda buffer: answer(server, buffer, params))

    server.feature(method, options)(answered)


def _hover(server: Server, buffer: Buffer, params: types.HoverParams) -> types.Hover | None:
    look, exact = server.texts.look(buffer.uri), server.texts.exact_look(buffer)
    own = [part for part in exact.found if part.place and part.place.source.name == buffer.name]
    offset = buffer.offset(wire.spot(params.position))

    def most(loadout: str, socket: str) -> str | None:
        if any(part.finding.severity is Severity.ERROR for part in exact.found):
            return ""
        if buffer.is_large and exact is not look:
            return None  # nobody waits for a whole check
        return server.lane(buffer).checker.most(Visits(server.job(buffer), loadout, socket))

    found = hovering.hover(offset, own, server.texts.reading(buffer), look, most)
    return wire.hover(buffer, found) if found else None


def _complete(server: Server, buffer: Buffer, params: types.CompletionParams) -> types.CompletionList:
    offset = buffer.offset(wire.spot(params.position))
    found = offers.offers(buffer.source, offset, server.known(buffer, offset))
    # What the first check tells is still to come, where the editor has not waited for it.
    return wire.completion(buffer, found, whole=found.whole and server.texts.is_told(buffer.uri))


def _outline(server: Server, buffer: Buffer, _: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
    reading = server.texts.reading(buffer) or server.texts.sound(buffer)
    return wire.symbols(buffer, symbols.symbols(reading.document)) if reading else []


def _define(server: Server, buffer: Buffer, params: types.DefinitionParams) -> types.Location | None:
    look = server.texts.look(buffer.uri)
    reading, mention = _named(server, buffer, params.position)
    target = navigation.definition(reading, mention, look) if reading and mention else None
    return server.location(target, look) if target else None


def _refer(server: Server, buffer: Buffer, params: types.ReferenceParams) -> list[types.Location]:
    reading, mention = _named(server, buffer, params.position)
    if reading is None or mention is None:
        return []
    spans = navigation.references(reading, mention, declaration=params.context.include_declaration)
    return [types.Location(buffer.uri, wire.range_of(buffer, span)) for span in spans]


def _named(server: Server, buffer: Buffer, at: types.Position) -> tuple[Reading | None, Mention | None]:
    reading = server.texts.reading(buffer)
    return reading, reading.at(buffer.offset(wire.spot(at))) if reading else None


def _prepare(
    server: Server, buffer: Buffer, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder:
    reading, mention = _renamable(server, buffer, params.position)
    renaming.renamable(reading, mention)
    where = wire.range_of(buffer, renaming.inside(reading, mention))
    return types.PrepareRenamePlaceholder(where, mention.name)


def _rename(server: Server, buffer: Buffer, params: types.RenameParams) -> types.WorkspaceEdit:
    reading, mention = _renamable(server, buffer, params.position)
    below = server.texts.look(buffer.uri).materia
    edits = renaming.rename(reading, mention, params.new_name, below)
    return wire.workspace_edit(buffer, edits, versioned=server.state.versioned)


def _renamable(server: Server, buffer: Buffer, at: types.Position) -> tuple[Reading, Mention]:
    reading, mention = _named(server, buffer, at)
    if reading is None:
        raise RefusedError("nothing can be renamed while there are errors of syntax")
    if mention is None:
        raise RefusedError("there is no name here")
    return reading, mention


def _act(server: Server, buffer: Buffer, params: types.CodeActionParams) -> list[types.CodeAction]:
    only = params.context.only
    quick = _quick(server, buffer, params.range) if _asked(_QUICK, only) else ()
    return [*quick, *(_all(server, buffer) if _asked(FIX_ALL, only) else ())]


def _asked(kind: str, only: Sequence[Any] | None) -> bool:
    """Whether actions of a kind are wanted: a kind stands for all that begin with it."""
    asked = [str(getattr(part, "value", part)) for part in only or ()]
    return only is None or any(kind == part or kind.startswith(f"{part}.") for part in asked)


def _quick(server: Server, buffer: Buffer, where: types.Range) -> Iterator[types.CodeAction]:
    found = server.texts.exact_look(buffer).found
    start, end = (buffer.offset(wire.spot(place)) for place in (where.start, where.end))
    job = server.job(buffer)
    held = server.lane(buffer).checker.held
    for action in actions.actions(buffer, found, start, end, lambda fixes: held(Trials(job, tuple(fixes)))):
        yield types.CodeAction(
            title=action.title,
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[server.diagnostic(buffer, action.mends)],
            is_preferred=action.preferred or None,
            edit=wire.workspace_edit(buffer, action.edits, versioned=server.state.versioned),
        )


def _all(server: Server, buffer: Buffer) -> Iterator[types.CodeAction]:
    if not actions.any_safe(buffer, server.texts.exact_look(buffer).found):
        return
    text = server.lane(buffer).checker.mended(Mending(server.job(buffer)))
    edits = actions.changed(buffer.source.text, text) if text is not None else []
    if edits:
        edit = wire.workspace_edit(buffer, edits, versioned=server.state.versioned)
        yield types.CodeAction("Fix all that can safely be fixed", kind=FIX_ALL, edit=edit)


def _lay_out(server: Server, buffer: Buffer, _: types.DocumentFormattingParams) -> list[types.TextEdit]:
    sound = server.texts.reading(buffer) is not None
    return wire.text_edits(buffer, actions.layout(buffer)) if sound else []


_ANSWERS: Final[Mapping[str, Answer]] = {
    types.TEXT_DOCUMENT_HOVER: _hover,
    types.TEXT_DOCUMENT_COMPLETION: _complete,
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _outline,
    types.TEXT_DOCUMENT_DEFINITION: _define,
    types.TEXT_DOCUMENT_REFERENCES: _refer,
    types.TEXT_DOCUMENT_PREPARE_RENAME: _prepare,
    types.TEXT_DOCUMENT_RENAME: _rename,
    types.TEXT_DOCUMENT_CODE_ACTION: _act,
    types.TEXT_DOCUMENT_FORMATTING: _lay_out,
}
