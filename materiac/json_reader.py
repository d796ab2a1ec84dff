"""A reader of JSON that says what is wrong, and where: a machine over tokens, with a stack of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from materiac import json_tokens as lex
from materiac.diagnostic import Finding, Related, Severity
from materiac.source import Span

MAX_DEPTH: Final = 256

_VALUE_STARTS: Final = frozenset({"{", "[", lex.PLAIN, lex.STRING, lex.SINGLE, lex.ATOM})

_State = Callable[[str, int, int], Any]
"""What is expected next: takes a token and gives the state that follows it."""


@dataclass(slots=True)
class _Frame:
    """A container that is still open, with the keys that it has so far."""

    value: Any
    start: int
    closer: str
    keys: dict[str, Span] = field(default_factory=dict)
    key: str = ""


class _StopError(Exception):
    """Nothing sensible can be read after the fault that was reported last."""


class Reader:
    """Reads a text once: after `run`, `findings` are its faults, and `root` its value if there are none.

    What can be read past is reported and read past; the first other fault ends the reading.
    """

    def __init__(self, text: str) -> None:
        self.root: Any = None
        self.findings: list[Finding] = []
        self._text = text
        self._frames: list[_Frame] = []
        self._comma = 0
        self._too_deep = False

    def run(self) -> None:
        """Read the text to its end, or to the first fault that stops."""
        state: _State = self._value
        try:
            for kind, start, end in lex.tokens(self._text):
                if kind == lex.COMMENT:
                    self._comment(start, end)
                else:
                    state = state(kind, start, end)
        except _StopError:
            return

    def _comment(self, start: int, end: int) -> None:
        if self._text.startswith("/*", start) and not self._text.endswith("*/", start + 2, end):
            self._stop("comment is not closed, and comments are not part of JSON", start, start + 2)
        self._report("comments are not part of JSON", start, end)

    def _value(self, kind: str, start: int, end: int) -> _State:
        if kind == "{":
            return self._open({}, start, "}", self._first_key)
        if kind == "[":
            return self._open([], start, "]", self._first_item)
        value = self._text[start + 1 : end - 1] if kind == lex.PLAIN else self._scalar(kind, start, end)
        self._store(value)
        return self._after

    def _open(self, value: Any, start: int, closer: str, state: _State) -> _State:
        self._store(value)
        self._frames.append(_Frame(value, start, closer))
        if len(self._frames) > MAX_DEPTH and not self._too_deep:
            self._too_deep = True
            self._report(f"nested more than {MAX_DEPTH} levels deep", start, start + 1)
        return state

    def _store(self, value: Any) -> None:
        if not self._frames:
            self.root = value
        elif self._frames[-1].closer == "]":
            self._frames[-1].value.append(value)
        else:
            self._frames[-1].value[self._frames[-1].key] = value

    def _first_item(self, kind: str, start: int, end: int) -> _State:
        return self._close() if kind == "]" else self._value(kind, start, end)

    def _next_item(self, kind: str, start: int, end: int) -> _State:
        return self._close_late() if kind == "]" else self._value(kind, start, end)

    def _first_key(self, kind: str, start: int, end: int) -> _State:
        return self._close() if kind == "}" else self._key(kind, start, end)

    def _next_key(self, kind: str, start: int, end: int) -> _State:
        return self._close_late() if kind == "}" else self._key(kind, start, end)

    def _key(self, kind: str, start: int, end: int) -> _State:
        key = self._text[start + 1 : end - 1] if kind == lex.PLAIN else self._odd_key(kind, start, end)
        frame, span = self._frames[-1], Span(start, end)
        frame.key = key or ""
        if key is not None and key in frame.keys:
            first = Related(frame.keys[key], "first written here")
            message = f"repeated key {lex.shortened(key)}"
            self.findings.append(Finding("duplicate-key", Severity.ERROR, message, span, (first,)))
        elif key is not None:
            frame.keys[key] = span
        return self._colon

    def _odd_key(self, kind: str, start: int, end: int) -> str | None:
        if kind == lex.ATOM:
            word = self._text[start:end]
            self._report(
                f"key {lex.shortened(word)} has no quotes", start, end, "put double quotes around it"
            )
            return word
        if kind in (lex.STRING, lex.SINGLE, lex.UNCLOSED):
            return self._string(kind, start, end)
        return self._unexpected(kind, start, end, "a key in double quotes")

    def _colon(self, kind: str, start: int, end: int) -> _State:
        return self._value if kind == ":" else self._unexpected(kind, start, end, "':' after the key")

    def _after(self, kind: str, start: int, end: int) -> _State:
        if not self._frames:
            return self._finish(kind, start, end)
        closer = self._frames[-1].closer
        if kind == ",":
            self._comma = start
            return self._next_key if closer == "}" else self._next_item
        if kind == closer:
            return self._close()
        help_ = "is a ',' missing before it?" if kind in _VALUE_STARTS else None
        return self._unexpected(kind, start, end, f"',' or '{closer}'", help_)

    def _close_late(self) -> _State:
        self._report("trailing comma: JSON has none", self._comma, self._comma + 1, "remove it")
        return self._close()

    def _close(self) -> _State:
        self._frames.pop()
        return self._after

    def _finish(self, kind: str, start: int, end: int) -> _State:
        if kind == lex.END:
            return self._finish
        if kind in _VALUE_STARTS:
            self._stop("text after the value, expected the end of the file", start, end)
        return self._unexpected(kind, start, end, "the end of the file")

    def _scalar(self, kind: str, start: int, end: int) -> Any:
        if kind in (lex.STRING, lex.SINGLE, lex.UNCLOSED):
            return self._string(kind, start, end)
        value = lex.atom_value(self._text, start, end) if kind == lex.ATOM else None
        if value is None:
            help_ = "a string has double quotes" if kind == lex.ATOM else None
            return self._unexpected(kind, start, end, "a value", help_)
        if value[1] is not None:
            self._report(*value[1])
        return value[0]

    def _string(self, kind: str, start: int, end: int) -> str | None:
        if kind == lex.UNCLOSED:
            broken = end < len(self._text)
            help_ = r"write a line break in a string as '\n'" if broken else None
            self._stop("string is not closed", start, end, help_)
        if kind == lex.SINGLE:
            self._report("string in single quotes", start, end, "JSON strings have double quotes")
            return self._text[start + 1 : end - 1]
        value, faults = lex.string_value(self._text, start, end)
        for fault in faults:
            self._report(*fault)
        return value

    def _unexpected(
        self, kind: str, start: int, end: int, expected: str, help_: str | None = None
    ) -> NoReturn:
        related: tuple[Related, ...] = ()
        if self._frames and kind in ("}", "]", lex.END):
            opened = self._frames[-1].start
            related = (Related(Span(opened, opened + 1), f"'{self._text[opened]}' is opened here"),)
        found = self._described(kind, start, end)
        self._stop(f"found {found}, expected {expected}", start, end, help_, related)

    def _described(self, kind: str, start: int, end: int) -> str:
        if kind == lex.END:
            return "the end of the file" if self._text.strip() else "an empty file"
        if kind in (lex.PLAIN, lex.STRING, lex.SINGLE, lex.UNCLOSED):
            return "a string"
        if kind == lex.JUNK and not self._text[start].isprintable():
            return lex.unseen(self._text[start])
        return lex.shortened(self._text[start:end])

    def _stop(
        self, message: str, start: int, end: int, help_: str | None = None, related: tuple[Related, ...] = ()
    ) -> NoReturn:
        self._report(message, start, end, help_, related)
        raise _StopError

    def _report(
        self, message: str, start: int, end: int, help_: str | None = None, related: tuple[Related, ...] = ()
    ) -> None:
        at = Span(start, end)
        self.findings.append(Finding("syntax", Severity.ERROR, message, at, related, help_))
