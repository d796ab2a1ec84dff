"""The two spellings of a document: which one a text is in, and reading it."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Final, Literal

from materiac import json_text
from materiac.diagnostic import Finding
from materiac.source import Document, Source

Language = Literal["json", "dsl"]

LANGUAGES: Final[tuple[Language, ...]] = ("json", "dsl")
ENDING: Final = ".materia"
"""What the name of a file in the language of our own ends with."""

_DSL = re.compile(
    r"(?:\s+|#[^\r\n]*+)*+(?:@|(?:import|artifacts|active|agents|recovery|eventing|budget|limits"
    r"|parallelism|loadout|materia)\b)"
)


def read(name: str, raw: bytes, language: Language | None) -> tuple[Source, Document | None, list[Finding]]:
    """Decode and read a text, in the language that it seems to be in where none is said.

    There is a document where there are no findings.
    """
    source, found = json_text.decode(name, raw)
    if found:
        return source, None, found
    if (language or language_of(source)) == "json":
        return source, *json_text.read(source)
    from materiac import dsl_text  # noqa: PLC0415 - what is JSON does without the grammar

    return source, *dsl_text.read(source)


def language_of(source: Source) -> Language:
    """The language of a text: by the ending of its name, else by how it begins."""
    ending = PurePath(source.name).suffix.lower()
    if ending in (ENDING, ".json"):
        return "dsl" if ending == ENDING else "json"
    return "dsl" if _DSL.match(source.text) else "json"
