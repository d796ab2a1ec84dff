"""Damaging a sound loadout in the way that a rule is for, and what has to be found then."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sound_loadouts import Sound

from materiac import pipeline
from materiac.cli.importing import follow
from materiac.diagnostic import Located
from materiac.source import KEY, Pointer

Json = dict[str, Any]

__all__ = ["KEY", "Case", "Damage", "Expected", "Json", "check", "member"]


@dataclass
class Case:
    """A sound loadout that is about to be damaged.

    `files` are written beside it. Where the damage cannot be said in JSON, `raw` is the text.
    """

    sound: Sound
    files: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None

    @property
    def config(self) -> Json:
        return self.sound.config

    @property
    def text(self) -> str:
        return json.dumps(self.config, indent=1)


@dataclass(frozen=True)
class Expected:
    """Where a damage has to be found: at a pointer, or at an offset of the text. `also` are rules that
    speak of the same damage."""

    at: Pointer | int
    also: frozenset[str] = frozenset()


Damage = Callable[[Case], Pointer | Expected]


def check(case: Case) -> Sequence[Located]:
    """What is found in a case, in the current folder."""
    raw = case.text.encode() if case.raw is None else case.raw
    for name, text in case.files.items():
        Path(name).write_text(text, encoding="utf-8")
    if "import" not in case.config:
        return pipeline.check([pipeline.Text("loadout.json", raw)])
    return pipeline.check(follow(pipeline.Text("loadout.json", raw), allow_outside=False))


def damaged(rule: str, damage: Damage, sound: Sound) -> None:
    """Damage a copy of a loadout, and hold what is found against what the damage says."""
    case = Case(copy.deepcopy(sound))
    said = damage(case)
    expected = said if isinstance(said, Expected) else Expected(said)
    found = check(case)
    rules = {part.finding.rule for part in found}
    assert rule in rules, f"found {sorted(rules)}"
    unrelated = [part.finding for part in found if part.finding.rule not in {rule, *expected.also}]
    assert not unrelated, unrelated
    own = [part for part in found if part.finding.rule == rule]
    assert any(_is_at(part, expected.at) for part in own), [part.finding.at for part in own]


def _is_at(part: Located, at: Pointer | int) -> bool:
    if isinstance(at, int):
        return part.place is not None and part.place.span.start <= at <= part.place.span.end
    return part.finding.at == at


def member(value: Any, *, at: Pointer = ()) -> Iterator[tuple[Pointer, Any]]:
    """Every value in a JSON value, with its pointer."""
    yield at, value
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from member(part, at=(*at, key))
