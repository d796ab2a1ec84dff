"""Watching a cast for the properties of its loadout: what would break one, before it is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from materiac.program import END, Program
from materiac.properties import BROKEN, Mode, Property, parse
from materiac.runtime.visit import VisitFailed


class Watch:
    """How far a cast, or one of its streams, has come in each property of its program."""

    def __init__(self, program: Program) -> None:
        self._modes: dict[Property, Mode] = {rule: rule.start for rule in _rules(program)}

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to watch for."""
        return not self._modes

    def breach(self, at: str) -> VisitFailed | None:
        """Why the cast may not come to a socket, or to its end; None where it may."""
        broken = next((rule for rule, mode in self._modes.items() if rule.step(mode, at) == BROKEN), None)
        if broken is None:
            return None
        coming = "the end of the cast" if at == END else f"a visit of '{at}'"
        return VisitFailed("property", f"{coming} would break the property: {broken}")

    def come(self, at: str) -> None:
        """Come to a socket. What it breaks it breaks from then on."""
        self._modes = {rule: _past(mode, rule.step(mode, at)) for rule, mode in self._modes.items()}

    def adopt(self, program: Program, path: Sequence[str]) -> None:
        """Go on with the properties of another program; new ones begin with the visits so far."""
        known, self._modes = self._modes, {rule: rule.start for rule in _rules(program)}
        for socket in path:
            self.come(socket)
        self._modes |= {rule: mode for rule, mode in known.items() if rule in self._modes}

    def fork(self) -> Watch:
        """A copy for a stream, which goes its own way."""
        return self._with(self._modes)

    def joined(self, streams: Iterable[Watch]) -> Watch:
        """What is watched for when streams are done that began here."""
        parts = [stream._modes for stream in streams]  # noqa: SLF001 - of this class
        return self._with(
            {
                rule: rule.join(mode, [part.get(rule, mode) for part in parts])
                for rule, mode in self._modes.items()
            }
        )

    def _with(self, modes: dict[Property, Mode]) -> Watch:
        other = object.__new__(Watch)
        other._modes = dict(modes)
        return other


def _rules(program: Program) -> list[Property]:
    return [parse(data) for data in program.properties]


def _past(before: Mode, after: Mode) -> Mode:
    return before if after == BROKEN else after
