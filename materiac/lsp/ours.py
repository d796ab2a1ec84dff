"""Which files are loadouts or scenarios, and which are other JSON that is left alone."""

from __future__ import annotations

import re
from typing import Any, Final

from materiac import languages
from materiac.lsp.buffers import Buffer, path_of
from materiac.lsp.json_glance import in_json
from materiac.lsp.reading import Reading

_NAMES: Final = re.compile(
    r"(?:^|/)(?:loadouts/[^/]+|\.materia/loadout|\.pi/pi-materia|materiac/materia|[^/]*\.(?:loadout|scenario))\.json$"
)
_HINT: Final = re.compile(r'"(?:loadouts|materia|pipeline|scenarios|name)"\s*:')
_KEYS: Final = frozenset({"loadouts", "materia", "scenarios"})


def is_ours(buffer: Buffer, reading: Reading | None) -> bool:
    """Whether a file is one of loadouts or scenarios: by its language, its name, or what is in it."""
    path = path_of(buffer.uri)
    if buffer.language == "dsl" or (path is not None and _NAMES.search(path.as_posix())):
        return True
    if _HINT.search(buffer.text) is None:
        return False
    data = reading.document.data if reading is not None else in_json(buffer.source.text)
    return _holds_ours(data) or (reading is not None and languages.is_scenario(reading.document))


def _holds_ours(data: Any) -> bool:
    """Whether an object has what loadout files have, or had."""
    if not isinstance(data, dict):
        return False
    pipeline = data.get("pipeline")
    early = isinstance(pipeline, dict) and ("sockets" in pipeline or "roles" in data)
    return early or not _KEYS.isdisjoint(data)
