"""Where a name is given its meaning, and where it is used."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from materiac import imports
from materiac.diagnostic import Place
from materiac.lsp.looks import Look
from materiac.lsp.mentions import Mention
from materiac.lsp.reading import Reading
from materiac.source import Span


class Target(NamedTuple):
    """A place in a text that has been read, or a whole file."""

    place: Place | None = None
    file: Path | None = None


def definition(reading: Reading, mention: Mention, look: Look) -> Target | None:
    """Where what a name means is written: in the same text, in a layer below, or a file."""
    if mention.kind == "file":
        return _file(reading, mention, look)
    own = next((other for other in reading.of(mention) if other.defines), None)
    if own is not None:
        return Target(Place(reading.document.source, reading.span(own)))
    if mention.kind == "materia":
        behaviour = look.materia.get(mention.name)
        return Target(behaviour.place) if behaviour and behaviour.place else None
    if mention.kind == "loadout":
        place = look.loadouts.get(mention.name)
        return Target(place) if place else None
    station = look.stations.get((mention.loadout or "", mention.name)) if mention.kind == "socket" else None
    return Target(station.place) if station and station.place else None


def _file(reading: Reading, mention: Mention, look: Look) -> Target | None:
    span = reading.span(mention)
    if mention.at[:1] == (imports.KEY,):
        name = next((name for at, name in look.imports if at == span), None)
        return Target(file=look.files[name]) if name is not None and name in look.files else None
    here = look.files.get(reading.document.source.name)
    if here is None:
        return None
    file = Path(os.path.normpath(here.parent / mention.name))
    return Target(file=file) if file.is_file() else None


def references(reading: Reading, mention: Mention, *, declaration: bool) -> list[Span]:
    """The places of a name in its text."""
    found = [other for other in reading.of(mention) if declaration or not other.defines]
    return [reading.span(other) for other in found]
