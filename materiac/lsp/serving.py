"""Serving an editor on pipes: the beginning and the end of the talk, and what it tells of files."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Sequence
from typing import Any, BinaryIO, Final, cast

from lsprotocol import types

from materiac.lsp import features
from materiac.lsp.buffers import Units
from materiac.lsp.messages import Messages
from materiac.lsp.parent import outlive_no
from materiac.lsp.server import Server

_INTERRUPTED: Final = 128 + signal.SIGINT
_UNITS: Final[dict[str, Units]] = {"utf-8": "utf-8", "utf-16": "utf-16", "utf-32": "utf-32"}


def serve(command: Sequence[str], reader: BinaryIO, writer: BinaryIO) -> int:
    """Serve until the editor goes; 1 where it left without saying so before. `command` runs what checks.

    Raises `HeaderError` where what comes is no message.
    """
    server = Server(command)
    features.register(server)
    _listen(server)
    signal.signal(signal.SIGINT, lambda *_: _leave(server))
    server.start()
    gc.freeze()  # the collector need not go through what was loaded
    try:
        server.start_io(cast("BinaryIO", Messages(reader)), writer)
    finally:
        server.close()
    return int(server.state.left and not server.state.ended)


def _leave(server: Server) -> None:
    """End at once: a thread waits for the editor, and would go on to do so."""
    server.stop()
    os._exit(_INTERRUPTED)


def _listen(server: Server) -> None:
    @server.feature(types.INITIALIZE)
    def _(params: types.InitializeParams) -> None:
        encoding = server.workspace.position_encoding
        server.state.units = _UNITS.get(str(getattr(encoding, "value", encoding)), "utf-16")
        edits = params.capabilities.workspace and params.capabilities.workspace.workspace_edit
        server.state.versioned = bool(edits and edits.document_changes)
        if params.process_id is not None:
            outlive_no(params.process_id, server.close)

    @server.feature(types.SHUTDOWN)
    def _(_: Any) -> None:
        server.state.ended = True

    @server.feature(types.EXIT)
    def _(_: Any) -> None:
        server.state.left = True

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def _(_: types.DidSaveTextDocumentParams) -> None:
        server.all_soon()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def _(_: types.DidChangeWatchedFilesParams) -> None:
        server.all_soon()
