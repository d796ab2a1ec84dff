"""Prompts, answers and what commands get and print, where spans shall have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from materiac.environment import Mask

Json = dict[str, Any]

MAX_TEXT: Final = 32_000
"""How many characters of a text a span has."""


class Contents:
    """Texts out of the files that records name, in the folder of the cast, without secrets."""

    def __init__(self, folder: Path, mask: Mask) -> None:
        self._folder, self._mask = folder, mask

    def cut(self, text: str) -> str:
        """The beginning of a text, without secrets."""
        text = self._mask.text(text)
        return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"

    def text(self, fields: Json, kind: str) -> str | None:
        """The beginning of the file of a kind; None where a record names none that can be read."""
        name = next((part["file"] for part in fields.get("files") or () if part.get("kind") == kind), None)
        if name is None:
            return None
        try:
            return self.cut((self._folder / name).read_bytes().decode("utf-8", "replace"))
        except OSError:
            return None

    def message(self, fields: Json, kind: str, role: str, stop: str | None = None) -> str | None:
        """The same as the one message of a list, in JSON, as the conventions have it."""
        text = self.text(fields, kind)
        if text is None:
            return None
        message: Json = {"role": role, "parts": [{"type": "text", "content": text}]}
        return json.dumps([message | ({} if stop is None else {"finish_reason": stop})], ensure_ascii=False)
