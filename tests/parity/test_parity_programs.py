"""The same loadout in both spellings is the same program, and what ships in both is the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from samples import FEATURES

from materiac import formatting
from materiac.cli.loading import bundled
from materiac.dsl_text import read
from materiac.pipeline import Text, check, compile_loadout
from materiac.resources import folder
from materiac.source import Source

ROOT = Path(__file__).parents[2]
CASES = sorted((ROOT / "tests" / "conformance" / "cases").glob("*.json"))
CORPUS = sorted((ROOT / "tests" / "corpus").glob("*/*.json"))
TWINS = [
    path for path in (*folder("loadouts").glob("*.json"), *folder("loadouts").glob("templates/*.json"))
    if ".scenario" not in path.name
]  # fmt: skip


def digests(name: str, raw: bytes, loadouts: list[str]) -> list[str | None]:
    done = [compile_loadout([*bundled(), Text(name, raw)], loadout) for loadout in loadouts]
    return [one.image.program.digest() if one.image is not None else None for one in done]


def rules(name: str, raw: bytes) -> list[tuple[str, str, str]]:
    found = check([*bundled(), Text(name, raw)])
    return sorted((part.finding.rule, part.finding.message, repr(part.finding.help)) for part in found)


def spelt(data: dict[str, Any]) -> bytes:
    return formatting.written(data, "dsl").encode()


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_what_ships_is_the_same_in_both(path: Path) -> None:
    raw, other = path.read_bytes(), path.with_suffix(".materia").read_bytes()
    names = list(json.loads(raw)["loadouts"])
    assert digests(path.name, raw, names) == digests("x.materia", other, names) != [None]
    assert rules("x.materia", other) == rules(path.name, raw)


@pytest.mark.parametrize("path", TWINS, ids=lambda path: path.stem)
def test_what_ships_is_laid_out(path: Path) -> None:
    text = path.with_suffix(".materia").read_text(encoding="utf-8")
    assert formatting.formatted(text, "dsl") == text
    if path.parent.name == "loadouts":
        text = path.read_text(encoding="utf-8")
        assert formatting.formatted(text, "json") == text


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_cases_of_the_language(path: Path) -> None:
    config = json.loads(path.read_text(encoding="utf-8")).get("config")
    if not isinstance(config, dict):
        pytest.skip("no object")
    names = [name for name in (config.get("loadouts") or {"pipeline": {}}) if isinstance(name, str)]
    raw = json.dumps(config).encode()
    assert digests("x.materia", spelt(config), names) == digests("x.json", raw, names)
    assert rules("x.materia", spelt(config)) == rules("x.json", raw)


@pytest.mark.parametrize("name", FEATURES)
def test_features(name: str) -> None:
    config = FEATURES[name]
    names = list(config.get("loadouts", ["pipeline"]))
    raw = json.dumps(config).encode()
    assert digests("x.materia", spelt(config), names) == digests("x.json", raw, names) != [None]


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_findings_stand_at_the_same_parts(path: Path) -> None:
    """The place of each finding is in both texts that of the same value or key."""
    config = json.loads(path.read_bytes())
    if not isinstance(config, dict):
        pytest.skip("no object")
    raw = path.read_bytes()
    assert rules("x.materia", spelt(config)) == rules("x.json", raw)
    document, _ = read(Source("x.materia", spelt(config).decode()))
    assert document is not None
    for part in check([*bundled(), Text("x.materia", spelt(config))]):
        assert part.place is not None
        assert part.place.source.name == "x.materia"
        assert part.place.span.end > part.place.span.start
