"""The names of a file as it is now, be it sound or not, with those that it had while it was sound."""

from __future__ import annotations

from typing import Any, Final

from materiac.lsp.early import today
from materiac.lsp.json_glance import in_json
from materiac.source import Document, Source

_DEPTH: Final = 6
"""So deep are names: of loadouts, of their sockets, of what these assign."""


def names_now(source: Source, offset: int, before: Document | None) -> Any:
    """What has a name in a text as a file holds it, with what had one in a document that it was before.

    What is being typed at an offset is left out.
    """
    if before is not None and before.source.text == source.text:
        return today(before.data)
    return today(_united(_glance(source, offset), before.data if before is not None else None))


def _glance(source: Source, offset: int) -> Any:
    if source.language == "json":
        return in_json(source.text, offset)
    from materiac.lsp.dsl_glance import in_dsl  # noqa: PLC0415 - what is JSON does without the grammar

    return in_dsl(source.text, offset)


def _united(now: Any, before: Any, depth: int = _DEPTH) -> Any:
    """What a text tells now, over what it said before: of what has a name nothing is lost."""
    if not isinstance(now, dict) or not isinstance(before, dict) or depth == 0:
        return before if now is None else now
    merged = {**now, **{key: value for key, value in before.items() if key not in now}}
    for key in now.keys() & before.keys():
        merged[key] = _united(now[key], before[key], depth - 1)
    return merged
