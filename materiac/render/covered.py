"""What tests came to, as a picture shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

Key = tuple[str, str, str]

GREEN: Final = "#2e7d32"
RED: Final = "#c0392b"
_WHICH: Final = {"edge": "index", "exhaustion": "index", "exit": "when"}


class CoverageError(ValueError):
    """A file that is no coverage, or that does not know the program."""


@dataclass(frozen=True)
class Covered:
    """How often each element of a program was taken; nothing is known without `counts`."""

    counts: Mapping[Key, int] = field(default_factory=dict)

    def was(self, kind: str, of: str, which: str = "") -> bool | None:
        """Whether an element was taken; None where it is not counted."""
        count = self.counts.get((kind, of, which))
        return None if count is None else count > 0


def covered(data: Any, digest: str, name: str) -> Covered:
    """What `materiac test --coverage --format json` says of a program. Raises `CoverageError`."""
    try:
        for part in data["loadouts"]:
            if part["hash"] == digest:
                return Covered({_key(element): int(element["count"]) for element in part["elements"]})
    except (KeyError, TypeError, ValueError) as error:
        raise CoverageError("it is no coverage in JSON, as `materiac test` writes it") from error
    raise CoverageError(f"it has nothing on '{name}' as it is now")


def _key(element: Mapping[str, Any]) -> Key:
    which = _WHICH.get(element["kind"])
    return element["kind"], element["of"], str(element[which]) if which is not None else ""


def color(*, was_covered: bool | None) -> str | None:
    """The colour of what was covered, or was not; None where nothing is known."""
    return None if was_covered is None else GREEN if was_covered else RED
