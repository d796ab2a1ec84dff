"""What an editor shows of what is under the cursor, in Markdown."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from materiac.diagnostic import Located
from materiac.fixing.outcome import value_at
from materiac.lsp import describing
from materiac.lsp.early import written_loadouts
from materiac.lsp.looks import Look, Station
from materiac.lsp.mentions import Mention
from materiac.lsp.reading import Reading
from materiac.model import SOURCES, kind_of
from materiac.names import END
from materiac.resources import folder
from materiac.source import Span

_LINES: Final = 6
_WIDTH: Final = 160
_EXAMPLES: Final = "\n## "
_ITEMS: Final = ", for N items"
_TIMES: Final = {
    "": "how often it is visited is told once its loadout has no errors",
    "0": "never visited",
    "1": "visited at most once",
}

Most = Callable[[str, str], str | None]
"""Tells how often a socket of a loadout is visited at most; the empty text where errors are in the way."""


class Hover(NamedTuple):
    """What is shown, and of which range."""

    text: str
    span: Span


def hover(
    offset: int, found: Iterable[Located], reading: Reading | None, look: Look, most: Most
) -> Hover | None:
    """What is known of an offset: the findings there, and the name there."""
    here = [part for part in found if part.place is not None and _holds(part.place.span, offset)]
    pages = {part.finding.rule: page for part in here if (page := introduction(part.finding.rule))}
    mention = reading.at(offset) if reading is not None else None
    words = _described(mention, reading, look, most) if mention is not None and reading is not None else None
    texts = [*pages.values(), *([words] if words else [])]
    if not texts:
        return None
    spans = [part.place.span for part in here if part.place is not None]
    if mention is not None and reading is not None:
        spans.insert(0, reading.span(mention))
    return Hover("\n\n---\n\n".join(texts), spans[0])


def _holds(span: Span, offset: int) -> bool:
    return span.start <= offset <= span.end


def page(rule: str) -> Path | None:
    """The page of a rule, if there is one."""
    file = folder("rules") / f"{rule}.md"
    return file if file.is_file() else None


@functools.cache
def introduction(rule: str) -> str | None:
    """What the page of a rule says before its examples."""
    file = page(rule)
    if file is None:
        return None
    title, _, rest = file.read_text(encoding="utf-8").partition(_EXAMPLES)[0].partition("\n")
    return f"**{title.removeprefix('# ')}** {rest.strip()}"


def _described(mention: Mention, reading: Reading, look: Look, most: Most) -> str | None:
    if mention.kind == "materia":
        behaviour = look.materia.get(mention.name)
        return _of_materia(mention.name, behaviour.fields) if behaviour else None
    if mention.kind == "socket":
        if mention.name == END:
            return "`end`: the cast is complete"
        return _of_socket(mention, reading, look, most(mention.loadout or "", mention.name))
    loadouts = {str(at[-1]): loadout for at, loadout in written_loadouts(reading.document.data)}
    if mention.kind == "loop":
        return _of_loop(mention.name, value_at(reading.document.data, mention.at[:-1]))
    if mention.kind == "loadout":
        return describing.of_loadout(mention.name, loadouts.get(mention.name), look)
    return describing.of_list(mention, loadouts[mention.loadout or ""]) if mention.kind == "list" else None


def _of_socket(mention: Mention, reading: Reading, look: Look, visits: str | None) -> str | None:
    station = look.stations.get((mention.loadout or "", mention.name)) or _written(mention, reading)
    if station is None:
        return None
    parts = [f"materia `{station.materia}`"] if station.materia else []
    parts += [f"output read as {station.parse}"] if station.parse else []
    parts += [f"in loop `{station.loop}`"] if station.loop else []
    parts += [_often(visits)] if visits is not None else []
    behaviour = look.materia.get(station.materia)
    below = f"\n\n{_of_materia(station.materia, behaviour.fields)}" if behaviour else ""
    return f"socket **{mention.name}**\n\n{_listed(parts)}{below}"


def _written(mention: Mention, reading: Reading) -> Station | None:
    """What the text alone says of a socket, whose loadout could not be made sense of."""
    own = next((other for other in reading.of(mention) if other.defines), None)
    if own is None:
        return None
    socket = value_at(reading.document.data, own.at[:-1])
    materia = socket.get("materia") if isinstance(socket, dict) else None
    return Station(materia if isinstance(materia, str) else "", "", None, None)


def _often(visits: str) -> str:
    if visits in _TIMES:
        return _TIMES[visits]
    return f"visited at most {visits} times{_ITEMS if 'N' in visits else ''}"


def _of_materia(name: str, fields: Mapping[str, Any]) -> str:
    kind = kind_of(fields) or "agent"
    parts = list(_facts(fields))
    return "\n\n".join([f"{kind} **{name}**", *([_listed(parts)] if parts else []), *_texts(fields)])


def _listed(parts: Iterable[str]) -> str:
    return "\n".join(f"- {part}" for part in parts)


def _facts(fields: Mapping[str, Any]) -> Iterator[str]:
    flags = ("generator", "parallel", "parallelSafe", "multiTurn", "idempotent")
    for flag in flags:
        if fields.get(flag) is True:
            yield flag
    for key in ("tools", "model", "thinking", "parse"):
        value = fields.get(key)
        if isinstance(value, dict):
            value = value.get("tools")
        if value is not None:
            yield f"{key} {_code(value)}"
    for key in SOURCES:
        if fields.get(key) is not None:
            yield f"{key} {_code(fields[key])}"


def _code(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return _fenced(_cut(text.replace("\n", " ")))


def _cut(line: str) -> str:
    """A line as far as there is room for it, with a mark where it goes on."""
    return line if len(line) <= _WIDTH else f"{line[: _WIDTH - 1]}…"


def _fenced(text: str) -> str:
    fence = "`" * (1 + max(map(len, _runs(text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"`{text}`"


def _runs(text: str) -> list[str]:
    return [run for run in "".join(c if c == "`" else " " for c in text).split(" ") if run]


def _texts(fields: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(fields.get("description"), str):
        yield fields["description"]
    prompt = fields.get("prompt")
    if isinstance(prompt, str):
        lines = prompt.strip().splitlines()
        shown = [_cut(line) for line in lines[:_LINES]]
        more = ["…"] if len(lines) > _LINES else []
        fence = "`" * max(3, 1 + max(map(len, _runs(prompt)), default=0))
        yield "\n".join([f"{fence}text", *shown, *more, fence])


def _of_loop(id_: str, loop: Any) -> str | None:
    members = loop.get("sockets") if isinstance(loop, dict) else None
    if not isinstance(members, list):
        return None
    return f"loop **{id_}** of {', '.join(f'`{member}`' for member in members if isinstance(member, str))}"
