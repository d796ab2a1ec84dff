"""Files in any layout with one fault each: the fix gives back what was there before, byte for byte."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
from samples import FEATURES, SHIPPED

from materiac import formatting, languages
from materiac.cli.loading import bundled
from materiac.diagnostic import Located
from materiac.fixing.rounds import mend
from materiac.pipeline import Text, check
from materiac.source import KEY, Document, Language, Pointer, Source

BELOW = bundled()
SEEDS = range(40)


class Fault(NamedTuple):
    """A damaged text, and the rule that it breaks."""

    text: str
    rule: str


def looked(text: str, language: Language) -> tuple[Located, ...]:
    return check([*BELOW, Text(f"x.{language}", text.encode(), language=language)])


def is_sound(data: Any) -> bool:
    return not any(part.finding.fix for part in looked(json.dumps(data), "json"))


SOUND = [
    data
    for data in (*FEATURES.values(), *(json.loads(file.read_text(encoding="utf-8")) for file in SHIPPED))
    if is_sound(data)
]


def sound(seed: int, language: Language) -> str:
    """A loadout without a finding that could be fixed, in a layout of its own."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    data = SOUND[seed % len(SOUND)]
    return "".join(_tokens(data, chance)) if language == "json" else _loose(data, chance)


def _tokens(data: Any, chance: random.Random) -> Iterator[str]:
    """JSON with white space wherever it may be."""
    if isinstance(data, dict | list):
        brackets = "{}" if isinstance(data, dict) else "[]"
        yield brackets[0] + _space(chance)
        for index, part in enumerate(data):
            yield ("," + _space(chance)) if index else ""
            if isinstance(data, dict):
                yield json.dumps(part, ensure_ascii=bool(index % 2)) + _space(chance) + ":" + _space(chance)
            yield from _tokens(data[part] if isinstance(data, dict) else part, chance)
            yield _space(chance)
        yield brackets[1]
    else:
        yield json.dumps(data, ensure_ascii=chance.random() < 0.5)


def _space(chance: random.Random) -> str:
    return chance.choice(["", "", " ", "  ", "\t", "\n", "\r\n  ", "\n\t\t"])


def _loose(data: Any, chance: random.Random) -> str:
    """The DSL with comments, and with indents and spaces of its own."""
    lines = formatting.written(data, "dsl").splitlines()
    within = False
    for index, line in enumerate(lines):
        inside = within
        within ^= line.count('"""') % 2 == 1
        if inside or within or not line.strip() or line.count('"'):
            continue
        lines[index] = "\t" * chance.randrange(3) + line + chance.choice(["", "  ", "  # why -> x {"])
    return chance.choice(["\n", "\r\n"]).join(lines)


def document(text: str, language: Language) -> Document:
    found, _ = languages.document(f"x.{language}", text.encode(), language)
    assert found is not None
    return found


def edges(found: Document) -> list[Pointer]:
    """The edges of a text by their pointers."""
    return [at for at in found.spans if len(at) == 6 and at[4] == "edges" and at[-1] is not KEY]


def misspelt_target(text: str, language: Language, chance: random.Random) -> Fault | None:
    found = document(text, language)
    spots = [found.spans[*at, "to"] for at in edges(found)]
    spots = [
        spot for spot in spots if len(text[slice(*spot)].strip('"')) > 4 and "end" not in text[slice(*spot)]
    ]
    if not spots:
        return None
    start, end = chance.choice(spots)
    middle = (start + end) // 2
    return Fault(text[:middle] + text[middle + 1 :], "unknown-target")


def dead_edge(text: str, language: Language, chance: random.Random) -> Fault | None:
    found = document(text, language)
    spots = []
    for at in edges(found):
        edge = found.data["loadouts"][at[1]]["sockets"][at[3]]["edges"][at[5]]
        if edge.get("when", "always") == "always":
            spots.append((found.spans[at].end, edge["to"]))
    if not spots:
        return None
    end, to = chance.choice(spots)
    space = _space(chance)
    new = f',{space}{{{space}"to" :{json.dumps(to)}}}'
    if language == "dsl":
        end = found.source.text.find("\n", end)
        end -= text[end - 1] == "\r"
        new = f"{text[end : text.index(chr(10), end) + 1]}   -> {json.dumps(to)}"
    return Fault(text[:end] + new + text[end:], "dead-edge")


def unused_key(text: str, language: Language, chance: random.Random) -> Fault | None:
    """Behind the last member of a materia."""
    found = document(text, language)
    spots = [at for at in found.spans if len(at) == 2 and at[0] == "materia" and at[-1] is not KEY]
    if not spots:
        return None
    start, end = found.spans[chance.choice(spots)]
    inner = text[start : end - 1].rstrip()
    at = start + len(inner)
    if inner.endswith("{") or "#" in inner.rpartition("\n")[2]:
        return None
    new = (
        f',{_space(chance)}"webui":{_space(chance)}{{"a": [1,2]}}'
        if language == "json"
        else ' @webui {"a":[1]}'
    )
    return Fault(text[:at] + new + text[at:], "legacy-form")


def misspelt_key(text: str, language: Language, chance: random.Random) -> Fault | None:
    found = document(text, language)
    spots = [
        found.spans[at]
        for at in found.spans
        if at[-1:] == (KEY,) and at[-2] in ("maxTraversals", "generator", "advance", "consumes", "prompt")
    ]
    spots = [spot for spot in spots if text[slice(*spot)].startswith('"')]
    if not spots:
        return None
    _, end = chance.choice(spots)
    return Fault(text[: end - 2] + text[end - 1 :], "unknown-key")


CASES: list[tuple[Callable[[str, Language, random.Random], Fault | None], Language]] = [
    *((damage, "json") for damage in (misspelt_target, dead_edge, unused_key, misspelt_key)),
    *((damage, "dsl") for damage in (misspelt_target, dead_edge, unused_key)),
]


@pytest.mark.parametrize(("damage", "language"), CASES, ids=lambda part: getattr(part, "__name__", part))
def test_the_fix_gives_back_what_was_there(
    damage: Callable[[str, Language, random.Random], Fault | None], language: Language
) -> None:
    tried = 0
    for seed in SEEDS:
        text = sound(seed, language)
        fault = damage(text, language, random.Random(seed))  # noqa: S311 - no secret
        if fault is None:
            continue
        assert fault.rule in {part.finding.rule for part in looked(fault.text, language)}
        source = Source(f"x.{language}", fault.text, language)
        result = mend(source, lambda new: looked(new, language), unsafe=True)
        assert result.text == text
        tried += 1
    assert tried >= len(SEEDS) // 4
