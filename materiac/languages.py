"""The two spellings of a document: which one a text is in, and reading it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Final

from materiac import json_text
from materiac.diagnostic import Finding, Located, Place, Severity
from materiac.source import Document, Language, Pointer, Source, Span

LANGUAGES: Final[tuple[Language, ...]] = ("json", "dsl")
ENDING: Final = ".materia"
"""What the name of a file in the language of our own ends with."""

SCENARIO_ENDING: Final = ".scenario.json"
"""What the name of a file of scenarios in JSON ends with."""

_CONTAINERS: Final = frozenset({"scenarios", "import", "loadouts", "materia"})

_DSL = re.compile(
    r"(?:\s+|#[^\r\n]*+)*+(?:@|(?:import|artifacts|active|agents|recovery|eventing|budget|limits"
    r"|parallelism|loadout|materia|about|scenarios?)\b)"
)


_SCENARIOS = re.compile(rb"\bscenarios?\b")


def may_hold_scenarios(name: str, read_raw: Callable[[], bytes]) -> bool:
    """Whether a file in the language of our own has the word for scenarios; only reading it tells more."""
    return name.endswith(ENDING) and _SCENARIOS.search(read_raw()) is not None


def is_scenario(document: Document) -> bool:
    """Whether the object of a text of JSON is one scenario, without a list around it."""
    source, data = document.source, document.data
    if source.language != "json" or not isinstance(data, dict) or not _CONTAINERS.isdisjoint(data):
        return False
    if source.name.endswith(SCENARIO_ENDING):
        return True
    if "name" not in data:
        return False
    from materiac.dsl_print_scenario import stands_alone  # noqa: PLC0415 - few texts come to this

    return stands_alone(data)


def read(name: str, raw: bytes, language: Language | None) -> tuple[Source, Document | None, list[Finding]]:
    """Decode and read a text, in the language that it seems to be in where none is said.

    There is a document where there are no findings.
    """
    source, found = json_text.decode(name, raw)
    source = replace(source, language=language or language_of(source))
    if found:
        return source, None, found
    if source.language == "json":
        return source, *json_text.read(source)
    from materiac import dsl_text  # noqa: PLC0415 - what is JSON does without the grammar

    return source, *dsl_text.read(source)


def document(name: str, raw: bytes, language: Language | None) -> tuple[Document | None, list[Located]]:
    """Read a text that has to hold an object, with what is wrong with it in its places."""
    source, found, findings = read(name, raw, language)
    if found is not None and not isinstance(found.data, dict):
        words = "a loadout file is an object"
        findings, found = [Finding("invalid-value", Severity.ERROR, words, found.span(()))], None
    return found, [_located(source, finding) for finding in findings]


def _located(source: Source, finding: Finding) -> Located:
    def place(at: Pointer | Span) -> Place:
        return Place(source, at if isinstance(at, Span) else Span(0, 0))

    related = tuple((place(part.at), part.message) for part in finding.related)
    return Located(finding, place(finding.at), related)


def language_of(source: Source) -> Language:
    """The language of a text: by the ending of its name, else by how it begins."""
    ending = PurePath(source.name).suffix.lower()
    if ending in (ENDING, ".json"):
        return "dsl" if ending == ENDING else "json"
    return "dsl" if _DSL.match(source.text) else "json"
