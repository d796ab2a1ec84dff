"""What a loadout says of all of its casts, and how a cast is watched for it.

A property is a small automaton over the visits of a cast, in their order: its mode is a number, and a step
on a socket, or on `end`, gives the next mode or `BROKEN`. Checks search with it, runs are watched by it.

What a visit does is looked at before it begins: where it would break a property, the cast has not yet
done what it was not to do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from materiac.names import END

Mode = int
BROKEN: Final = -2
"""What `step` gives for a visit that must not be."""
_OFF: Final = -1
_ON: Final = 0

FORMS: Final = (
    ("never", "before"),
    ("every path", "passes"),
    ("after every", "comes"),
    ("at most", "of", "between"),
)
"""The keys of each form; the first tells which it is."""

_NOTHING: Final = f"nothing comes after '{END}'"
_LAST: Final = f"no way passes '{END}', where a cast is over"
_ALWAYS: Final = f"whatever is complete has come to '{END}', and this says nothing more"
_ONCE: Final = f"a cast comes to '{END}' once, and visits are counted of sockets"
"""Why the end of a cast cannot stand in some places."""


class PropertyError(ValueError):
    """A property that is none; the message says why, `key` is where, or None for the whole."""

    def __init__(self, message: str, key: str | None = None) -> None:
        super().__init__(message)
        self.key = key


class Property(Protocol):
    """A property of one of the four forms. `sockets` are those that it names, `end` may be one."""

    @property
    def sockets(self) -> tuple[str, ...]: ...
    @property
    def start(self) -> Mode: ...
    def step(self, mode: Mode, at: str) -> Mode:
        """The mode after coming to a socket, or to `end`; or `BROKEN`."""
        ...

    def join(self, before: Mode, after: Collection[Mode]) -> Mode:
        """The mode when streams are done, which all began in the mode `before`."""
        ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Never:
    """No cast comes to `socket`, or to the end, before it came to `before`."""

    socket: str
    before: str

    @property
    def sockets(self) -> tuple[str, ...]:
        return self.socket, self.before

    @property
    def start(self) -> Mode:
        return _ON

    def step(self, mode: Mode, at: str) -> Mode:
        if mode == _ON and at == self.socket:
            return BROKEN
        return _OFF if at == self.before else mode

    def join(self, before: Mode, after: Collection[Mode]) -> Mode:
        return min(after, default=before)

    def __str__(self) -> str:
        return f"never '{self.socket}' before '{self.before}'"


@dataclass(frozen=True, slots=True)
class Passes:
    """Whatever way leads from `source` to `target`, `through` is on it."""

    source: str
    target: str
    through: str

    @property
    def sockets(self) -> tuple[str, ...]:
        return self.source, self.target, self.through

    @property
    def start(self) -> Mode:
        return _OFF

    def step(self, mode: Mode, at: str) -> Mode:
        if at == self.through:
            return _OFF
        if at == self.target and mode == _ON:
            return BROKEN
        return _ON if at == self.source else mode

    def join(self, before: Mode, after: Collection[Mode]) -> Mode:
        return max(after, default=before)

    def __str__(self) -> str:
        return f"every path from '{self.source}' to '{self.target}' passes '{self.through}'"


@dataclass(frozen=True, slots=True)
class Comes:
    """After each visit of `socket`, one of `then` comes before the cast ends."""

    socket: str
    then: str

    @property
    def sockets(self) -> tuple[str, ...]:
        return self.socket, self.then

    @property
    def start(self) -> Mode:
        return _OFF

    def step(self, mode: Mode, at: str) -> Mode:
        if at == END:
            return BROKEN if mode == _ON else mode
        if at == self.then:
            return _OFF
        return _ON if at == self.socket else mode

    def join(self, before: Mode, after: Collection[Mode]) -> Mode:
        return max(after, default=before)

    def __str__(self) -> str:
        return f"after every '{self.socket}' comes '{self.then}'"


@dataclass(frozen=True, slots=True)
class AtMost:
    """From a visit of `source` on, until `target` or the end, there are no more than `most` of `socket`.

    Both ends count, where one of them is the socket itself. A mode is the count so far.
    """

    most: int
    socket: str
    source: str
    target: str

    @property
    def sockets(self) -> tuple[str, ...]:
        return self.socket, self.source, self.target

    @property
    def start(self) -> Mode:
        return _OFF

    def step(self, mode: Mode, at: str) -> Mode:
        if mode == _OFF and at == self.source:
            mode = 0
        if mode != _OFF and at == self.socket:
            mode += 1
        if mode > self.most:
            return BROKEN
        return self._closed(at) if at == self.target else mode

    def _closed(self, at: str) -> Mode:
        """The mode behind a visit of `target`, which begins anew where it is `source` as well."""
        if self.source != self.target:
            return _OFF
        return int(at == self.socket)

    def join(self, before: Mode, after: Collection[Mode]) -> Mode:
        counts = [mode for mode in after if mode != _OFF]
        if not counts:
            return _OFF if after else before
        already = max(before, 0)
        return already + sum(count - already for count in counts)

    def __str__(self) -> str:
        ends = f"between '{self.source}' and '{self.target}'"
        return f"at most {self.most} of '{self.socket}' {ends}"


def parse(data: Mapping[str, Any]) -> Property:
    """The property that the entry of a loadout is. Raises `PropertyError`."""
    match dict(data):
        case {"never": str(socket), "before": str(before), **rest} if not rest:
            _apart(socket, before, "before")
            return Never(socket, before)
        case {"every path": [str(source), str(target)], "passes": str(through), **rest} if not rest:
            for end in (source, target):
                _apart(end, through, "passes")
            return Passes(_no_end(source, "every path"), target, _no_end(through, "passes", _LAST))
        case {"after every": str(socket), "comes": str(then), **rest} if not rest:
            _apart(socket, then, "comes")
            return Comes(_no_end(socket, "after every"), _no_end(then, "comes", _ALWAYS))
        case {"at most": int(most), "of": str(socket), "between": [str(source), str(target)], **rest} if (
            not rest and not isinstance(most, bool) and most >= 0
        ):
            return AtMost(most, _no_end(socket, "of", _ONCE), _no_end(source, "between"), target)
    raise PropertyError(_lack(data))


def _lack(data: Mapping[str, Any]) -> str:
    """What keeps an entry from having one of the forms."""
    begun = [form for form in FORMS if form[0] in data]
    missing = [key for form in begun for key in form if key not in data]
    if len(begun) == 1 and missing:
        return f"it has '{begun[0][0]}' and no '{missing[0]}'"
    return "it has none of the four forms"


def _apart(one: str, other: str, key: str) -> None:
    if one == other:
        raise PropertyError(f"it names '{one}' twice, and says nothing by that", key)


def _no_end(socket: str, key: str, why: str = _NOTHING) -> str:
    if socket == END:
        raise PropertyError(why, key)
    return socket
