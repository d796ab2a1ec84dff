"""The same findings in whatever order things are written whose order means nothing."""

from __future__ import annotations

import copy
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import damage_data
import damage_loops
import damage_names
import pytest
from damage import Case
from sound_loadouts import sound

from materiac import pipeline
from materiac.diagnostic import Located, Place
from materiac.resources import folder
from materiac.rules import RULES
from materiac.rules.rule import Stage
from materiac.source import KEY, Pointer, Span

Json = dict[str, Any]

FEW = range(10)
MANY = range(10, 50)
CORPUS = sorted((Path(__file__).parents[1] / "corpus" / "err").glob("*.json"))
PAGES = [folder("rules") / f"{rule.name}.md" for rule in RULES]
TOGETHER = (
    *("unbounded-loop", "stall-guard", "missing-route", "idle-foreach", "parallel-unsafe", "parallel-write"),
    *("empty-list-skips", "obsolete-field", "unasked-text", "reserved-key", "repeated-exit", "unused-assign"),
    *("maybe-unassigned", "undefined-state", "broken-property", "unreachable-socket"),
)
"""Damages that can be done to one loadout."""


# Files with many findings


def pages() -> Json:
    """The loadouts of all pages of rules that break them, in one file."""
    return _merged((path.stem, _broken(path)) for path in PAGES)


def corpus() -> Json:
    return _merged((path.stem, json.loads(path.read_bytes())) for path in CORPUS)


def wrecks() -> Json:
    """Sound loadouts with three damages each."""
    damages = {**damage_names.DAMAGES, **damage_loops.DAMAGES, **damage_data.DAMAGES}
    chosen = Random(5).sample(list(combinations(TOGETHER, 3)), 12)  # noqa: S311 (no secret depends on it)
    files = []
    for seed, rules in enumerate(chosen):
        case = Case(sound(seed))
        for rule in rules:
            damages[rule](case)
        files.append((f"{seed}", case.config))
    return _merged(files)


def _broken(page: Path) -> Json:
    first = re.search(r"^```json\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    try:
        data = json.loads(first[1]) if first else {}
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _merged(files: Iterable[tuple[str, Json]]) -> Json:
    """The loadouts and materia of files as one; their names get those of the files before them."""
    merged: Json = {"loadouts": {}, "materia": {}}
    for file, config in files:
        loadouts, materia = config.get("loadouts"), config.get("materia", {})
        if isinstance(loadouts, dict) and isinstance(materia, dict):
            names = {name: f"{file} {name}" for name in materia}
            merged["materia"] |= {names[name]: value for name, value in materia.items()}
            merged["loadouts"] |= {
                f"{file} {name}": _renamed(value, names) for name, value in loadouts.items()
            }
    return merged


def _renamed(loadout: Any, names: dict[str, str]) -> Any:
    """A loadout with other names of its materia, and with an entry: without one, the first socket is it."""
    loadout = copy.deepcopy(loadout)
    sockets = loadout.get("sockets") if isinstance(loadout, dict) else None
    if isinstance(sockets, dict):
        loadout.setdefault("entry", next(iter(sockets), None))
        for socket in sockets.values():
            if isinstance(socket, dict) and socket.get("materia") in names:
                socket["materia"] = names[socket["materia"]]
    return loadout


# Shuffling them


def shuffled(value: Any, random: Random, at: Pointer = ()) -> Any:
    """A value in another order: of all members but those of `assign`, and of the members of loops."""
    if isinstance(value, dict):
        keys = list(value) if at[-1:] == ("assign",) else random.sample(list(value), len(value))
        return {key: shuffled(value[key], random, (*at, key)) for key in keys}
    if isinstance(value, list):
        order = random.sample(value, len(value)) if _is_members(at) else value
        return [shuffled(part, random, (*at, i)) for i, part in enumerate(order)]
    return value


def _is_members(at: Pointer) -> bool:
    return len(at) == 5 and at[0] == "loadouts" and at[2] == "loops" and at[4] == "sockets"


def findings(config: Json) -> Counter[str]:
    text = json.dumps(config, indent=1)
    found = pipeline.check([pipeline.Text("loadout.json", text.encode())])
    return Counter(repr(_told(part, config)) for part in found)


def _told(part: Located, config: Json) -> tuple[Any, ...]:
    """A finding with its places, whatever order things are written in."""
    finding = part.finding
    related = [
        (where(r.at, place, config), words)
        for r, (place, words) in zip(finding.related, part.related, strict=True)
    ]
    here = where(finding.at, part.place, config)
    return finding.rule, finding.severity, finding.message, finding.help, here, related


def where(at: Pointer | Span, place: Place | None, config: Json) -> list[Any]:
    """A pointer, with the names of members for their places in their loop; and what is quoted there."""
    assert not isinstance(at, Span)
    assert place is not None
    quoted = place.source.text[place.span.start : place.span.end]
    return [*_named(at, config), json.dumps(_ordered(json.loads(quoted)), sort_keys=True)]


def _ordered(value: Any) -> Any:
    """A value that is quoted, its lists of names in order."""
    if isinstance(value, dict):
        return {key: _ordered(part) for key, part in value.items()}
    if isinstance(value, list):
        return sorted(value) if all(isinstance(part, str) for part in value) else list(map(_ordered, value))
    return value


def _named(at: Pointer, value: Any) -> Iterator[Any]:
    for i, key in enumerate(at):
        value = value[key] if key is not KEY and _has(value, key) else None
        yield value if _is_members(at[:i]) else key


def _has(value: Any, key: Any) -> bool:
    return key in value if isinstance(value, dict) else isinstance(value, list) and key < len(value)


MAKERS = {"pages": pages, "corpus": corpus, "wrecks": wrecks}


@lru_cache(maxsize=len(MAKERS))
def _made(name: str) -> tuple[Json, Counter[str]]:
    config = MAKERS[name]()
    return config, findings(config)


@pytest.mark.parametrize("name", MAKERS)
def test_findings_do_not_depend_on_the_order(name: str) -> None:
    hold_together(name, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_nor_in_many_orders(name: str) -> None:
    hold_together(name, MANY)


def hold_together(name: str, seeds: range) -> None:
    config, expected = _made(name)
    for seed in seeds:
        found = findings(shuffled(config, Random(seed)))  # noqa: S311 (no secret depends on it)
        assert (seed, list(found - expected), list(expected - found)) == (seed, [], [])


def test_nearly_all_rules_are_among_them() -> None:
    found = {told.split("'")[1] for name in MAKERS for told in _made(name)[1]}
    early = {rule.name for rule in RULES if rule.stage is Stage.SHAPE}
    frame = {"missing-entry", "unknown-loadout", "unknown-agent", "unkept-scope", "small-budget"}
    assert found >= {rule.name for rule in RULES} - early - frame
