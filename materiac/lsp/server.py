"""The server: the requests of an editor, answered from its texts and from what checks have told."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final, NamedTuple, TypeVar

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from materiac import __version__, languages
from materiac.diagnostic import Located, Place
from materiac.lsp import navigation, wire
from materiac.lsp.buffers import Buffer, Units
from materiac.lsp.buffers import path_of as _path
from materiac.lsp.checker import Checker
from materiac.lsp.checks import DELAY_S, Checks
from materiac.lsp.glance import names_now
from materiac.lsp.known import Known
from materiac.lsp.looks import Job, Look
from materiac.lsp.protocol import Protocol
from materiac.lsp.refusals import RefusedError
from materiac.lsp.texts import Texts
from materiac.source import Language, Source, Span

_Result = TypeVar("_Result")
_REQUEST_FAILED: Final = -32803
_PATIENCE_S: Final = 2.0
"""So long completion waits for what the first check of a file tells of the layers below it."""


@dataclass
class _State:
    """What has come of the talk with the editor so far."""

    units: Units = "utf-16"
    versioned: bool = False
    ended: bool = False
    left: bool = False


class Lane(NamedTuple):
    """Threads that answer, and a process that checks: large texts have their own, which delay no other."""

    pool: ThreadPoolExecutor
    checker: Checker
    checks: Checks


class Server(LanguageServer):
    """A language server; `command` runs the process that checks."""

    def __init__(self, command: Sequence[str]) -> None:
        super().__init__("materiac", __version__, protocol_cls=Protocol)
        self.texts = Texts()
        self.state = _State()
        self._lane = self._new_lane(command)
        self._wide_lane = self._new_lane(command)

    def _new_lane(self, command: Sequence[str]) -> Lane:
        pool, checker = ThreadPoolExecutor(4), Checker(command)
        return Lane(pool, checker, Checks(self.texts, checker, pool, self.job, self._tell))

    def start(self) -> None:
        """Start what will be needed."""
        self._lane.checker.start()

    def stop(self) -> None:
        """End all processes at once."""
        for lane in self._lanes:
            lane.checker.stop()

    def close(self) -> None:
        """End all that was started."""
        for lane in self._lanes:
            lane.checker.close()
            lane.pool.shutdown(wait=False, cancel_futures=True)

    @property
    def _lanes(self) -> tuple[Lane, Lane]:
        return self._lane, self._wide_lane

    def lane(self, buffer: Buffer) -> Lane:
        """Where a buffer is answered from and checked."""
        return self._wide_lane if buffer.is_large else self._lane

    def report_server_error(self, error: Exception, source: Any) -> None:
        """Nothing: what is wrong with a request is told in its answer, the rest would only disturb."""

    # Texts.

    def opened(self, item: types.TextDocumentItem) -> None:
        language = _language(item.uri, item.language_id, item.text)
        buffer = Buffer(
            item.uri, self._name(item.uri, language), item.text, language, item.version, self.state.units
        )
        self.texts.open(buffer)
        self.all_soon()

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        self.texts.change(uri, params.text_document.version, map(wire.change, params.content_changes))
        for other in [uri, *self._dependants(uri)]:
            self._check(other)

    def closed(self, uri: str) -> None:
        self.texts.close(uri)
        for lane in self._lanes:
            lane.checks.forget(uri)
        self._publish(uri, [], None)
        self.all_soon()

    def all_soon(self) -> None:
        """Check all texts anew: what they stand on may have changed."""
        for uri in self.texts.uris:
            self._check(uri, 0)

    def _check(self, uri: str, delay: float = DELAY_S) -> None:
        buffer = self.texts.get(uri)
        if buffer is not None:
            for lane in self._lanes:
                lane.checks.forget(uri)
            self.lane(buffer).checks.soon(uri, delay)

    def _dependants(self, uri: str) -> list[str]:
        """The other texts that a file was read for, as an import or a layer below."""
        path = _path(uri)
        others = [other for other in self.texts.uris if other != uri]
        return [other for other in others if path in self.texts.look(other).files.values()]

    # Checks.

    def _folder(self, uri: str) -> Path:
        """The folder of the workspace that a file is in, which is the working folder of its check."""
        path = _path(uri)
        folders = [found for folder in self.workspace.folders if (found := _path(folder)) is not None]
        around = [folder for folder in folders if path is not None and path.is_relative_to(folder)]
        home = max(around, key=lambda folder: len(folder.parts), default=None)
        if home is None:
            home = path.parent if path is not None else next(iter(folders), Path.cwd())
        return next((folder for folder in (home, *home.parents) if folder.is_dir()), Path("/"))

    def _name(self, uri: str, language: Language) -> str:
        path, folder = _path(uri), self._folder(uri)
        if path is None:
            return f"untitled{languages.ENDING if language == 'dsl' else '.json'}"
        return str(path.relative_to(folder) if path.is_relative_to(folder) else path)

    def job(self, buffer: Buffer) -> Job:
        """What the process that checks is asked about a buffer."""
        others = [other for uri in self.texts.uris if (other := self.texts.get(uri)) and uri != buffer.uri]
        opened = {Path(os.path.realpath(path)): o.raw for o in others if (path := _path(o.uri)) is not None}
        return Job(buffer.name, buffer.raw, buffer.language, self._folder(buffer.uri), opened)

    def _tell(self, buffer: Buffer, look: Look) -> None:
        found = [self.diagnostic(buffer, part) for part in look.found]
        self._publish(buffer.uri, found, buffer.version)

    def diagnostic(self, buffer: Buffer, part: Located) -> types.Diagnostic:
        """A finding as it is published."""
        look = self.texts.look(buffer.uri)
        return wire.diagnostic(buffer, part, look, lambda place: self._locate(place, look))

    def _publish(self, uri: str, found: list[types.Diagnostic], version: int | None) -> None:
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    def _locate(self, place: Place, look: Look) -> types.Location | None:
        """A place in a text that was read, which may be open under a name of the editor's."""
        file = look.files.get(place.source.name)
        if file is None:
            return None
        for uri in self.texts.uris:
            buffer = self.texts.get(uri)
            if buffer is not None and _path(uri) == file:
                return types.Location(uri, wire.range_of(buffer, place.span))
        return types.Location(
            wire.uri_of(file), wire.range_in(place.source.text, place.span, self.state.units)
        )

    # Requests.

    async def ask(self, uri: str, answer: Callable[[Buffer], _Result]) -> _Result | None:
        """Answer from a buffer as it is now, beside the talk with the editor."""
        buffer = self.texts.get(uri)
        if buffer is None:
            return None
        try:
            pool = self.lane(buffer).pool
            return await asyncio.get_running_loop().run_in_executor(pool, self._answered, answer, buffer)
        except RefusedError as error:
            raise JsonRpcException(str(error), _REQUEST_FAILED) from error

    def _answered(self, answer: Callable[[Buffer], _Result], buffer: Buffer) -> _Result | None:
        """An answer; none where a large text has changed before its turn came."""
        late = buffer.is_large and self.texts.get(buffer.uri) is not buffer
        return None if late else answer(buffer)

    def known(self, buffer: Buffer, offset: int) -> Known:
        """The names for an offset of a buffer as it is now, with those that it had while it was sound."""
        if not buffer.is_large:
            self.texts.reading(buffer)
        sound, look = self.texts.sound(buffer), self.texts.look(buffer.uri, _PATIENCE_S)
        data = names_now(buffer.source, offset, sound.document if sound is not None else None)
        return Known(data, look.materia, tuple(look.loadouts), look.sockets)

    def location(self, target: navigation.Target, look: Look) -> types.Location | None:
        if target.file is not None:
            return types.Location(wire.uri_of(target.file), wire.range_in("", Span(0, 0), self.state.units))
        return self._locate(target.place, look) if target.place is not None else None


def _language(uri: str, language_id: str, text: str) -> Language:
    ending = PurePath(_path(uri) or "").suffix.lower()
    if ending in (languages.ENDING, ".json"):
        return "dsl" if ending == languages.ENDING else "json"
    if language_id in ("json", "jsonc", "materia"):
        return "dsl" if language_id == "materia" else "json"
    return languages.language_of(Source("", text))
