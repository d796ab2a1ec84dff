"""The protocol as the library knows it, with texts of our own, and with an answer for every request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import LanguageServerProtocol, lsp_method

if TYPE_CHECKING:
    from materiac.lsp.server import Server

_LARGEST: Final = 2**31 - 1
_INVALID_REQUEST: Final = -32600
_UNKNOWN_METHOD: Final = -32601
_INVALID_PARAMS: Final = -32602
_NOT_BEGUN: Final = -32002
_NO_REQUEST: Final = "this is no request of JSON-RPC 2.0"


class _Misfit(NamedTuple):
    """A request that does not fit, and why it has no other answer."""

    id: str | int | None
    code: int
    why: str


class Protocol(LanguageServerProtocol):
    """Texts are kept by the server: those of the library break lines where editors do not."""

    _server: Server

    @lsp_method(types.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        self._server.opened(params.text_document)

    @lsp_method(types.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        self._server.changed(params)

    @lsp_method(types.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        self._server.closed(params.text_document.uri)

    def structure_message(self, data: dict[str, Any]) -> Any:
        """A message, or a misfit where a request is none that is known."""
        if not {"jsonrpc", "id", "method"} <= data.keys():
            return super().structure_message(data)
        misfit = self._misfit(data)
        if misfit is not None:
            return misfit
        try:
            return super().structure_message(data)
        except JsonRpcException:
            return _Misfit(_id(data), _INVALID_PARAMS, "the parameters do not fit the request")

    def _misfit(self, data: dict[str, Any]) -> _Misfit | None:
        method, id_ = data["method"], _id(data)
        if data.get("jsonrpc") != self.VERSION or not isinstance(method, str) or id_ is None:
            return _Misfit(id_, _INVALID_REQUEST, _NO_REQUEST)
        if self._shutdown:
            return _Misfit(id_, _INVALID_REQUEST, "the server has been shut down")
        if (self._workspace is None) != (method == types.INITIALIZE):
            late = self._workspace is not None
            words = "the server has been initialized before" if late else "the server is not initialized yet"
            return _Misfit(id_, _INVALID_REQUEST if late else _NOT_BEGUN, words)
        if method not in self.fm.features and method not in self.fm.builtin_features:
            return _Misfit(id_, _UNKNOWN_METHOD, f"there is no method '{method}'")
        wrong = _wrong(data.get("params")) if method.startswith("textDocument/") else None
        return _Misfit(id_, _INVALID_PARAMS, wrong) if wrong is not None else None

    def handle_message(self, message: Any) -> None:
        """Answer a misfit at once, and leave the rest to the library."""
        if isinstance(message, dict) and {"id", "method"} <= message.keys():
            message = _Misfit(_id(message), _INVALID_REQUEST, _NO_REQUEST)
        if isinstance(message, _Misfit):
            # An answer has an id, which is nothing where that of the request could not be read.
            error = types.ResponseError(message.code, message.why)
            self._send_response(message.id, error=error)  # type: ignore[arg-type]
        else:
            super().handle_message(message)


def _id(data: Mapping[str, Any]) -> str | int | None:
    id_ = data.get("id")
    return id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None


def _wrong(params: Any) -> str | None:
    """What is wrong with the parameters of a request about a text, where the library would not see it."""
    if not isinstance(params, dict):
        return "the parameters are no object"
    document = params.get("textDocument")
    if not isinstance(document, dict) or not isinstance(document.get("uri"), str):
        return "'textDocument' has no 'uri'"
    if "newName" in params and not isinstance(params["newName"], str):
        return "'newName' is no text"
    places = [params["position"]] if "position" in params else []
    if "range" in params:
        range_ = params["range"] if isinstance(params["range"], dict) else {}
        places += [range_.get("start"), range_.get("end")]
    return None if all(map(_is_place, places)) else "a place has a line and a character, from 0 on"


def _is_place(place: Any) -> bool:
    if not isinstance(place, dict):
        return False
    parts = place.get("line"), place.get("character")
    return all(type(part) is int and 0 <= part <= _LARGEST for part in parts)
