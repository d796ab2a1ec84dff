"""Findings as commands of GitHub's workflows, which shows them beside the lines that they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from materiac.diagnostic import Located, Place, Severity
from materiac.report.excerpt import safe
from materiac.report.files import below, is_file

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
_OF_MESSAGES: Final = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_OF_PROPERTIES: Final = {**_OF_MESSAGES, **str.maketrans({":": "%3A", ",": "%2C"})}


def render(findings: Sequence[Located], folder: Path) -> str:
    """A command a finding, each line ended; files are named as seen from `folder`, the checkout."""
    return "".join(f"{_command(located, folder)}\n" for located in findings)


def _command(located: Located, folder: Path) -> str:
    finding = located.finding
    properties = {**_place(located.place, folder), "title": finding.rule}
    told = ",".join(f"{key}={safe(value.translate(_OF_PROPERTIES))}" for key, value in properties.items())
    message = "\n".join(_message(located, folder))
    return f"::{_COMMANDS[finding.severity]} {told}::{safe(message.translate(_OF_MESSAGES))}"


def _place(place: Place | None, folder: Path) -> dict[str, str]:
    """The place in the words of GitHub, which takes columns only of places within a line."""
    if place is None or not is_file(place.source.name):
        return {}
    start, end = (place.source.position(offset) for offset in place.span)
    lines = {"file": _file(place, folder), "line": str(start.line), "endLine": str(end.line)}
    if start.line != end.line:
        return lines
    return {**lines, "col": str(start.column), "endColumn": str(end.column)}


def _message(located: Located, folder: Path) -> Iterator[str]:
    place, message = located.place, located.finding.message
    if place is not None and not is_file(place.source.name):
        message = f"{_where(place, folder)}: {message}"
    yield message
    if located.help:
        yield f"help: {located.help}"
    for place, words in located.related:
        yield f"{_where(place, folder)}: note: {words}"


def _where(place: Place, folder: Path) -> str:
    position = place.source.position(place.span.start)
    return f"{_file(place, folder)}:{position.line}:{position.column}"


def _file(place: Place, folder: Path) -> str:
    name = place.source.name
    inside = below(name, folder) if is_file(name) else None
    return name if inside is None else inside.as_posix()
