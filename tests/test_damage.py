"""Sound loadouts, damaged at random: whatever comes of it is said, at a place, or runs to an end."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from samples import FEATURES, SHIPPED, Json

from materiac.agents.protocol import Reply, Request
from materiac.diagnostic import Located, Severity
from materiac.path import MISSING
from materiac.pipeline import Text, check, compile_loadout
from materiac.process import Completed
from materiac.program import Image, image_data, image_from_data
from materiac.report import as_json, ordered, text
from materiac.runtime.run import Order, run
from materiac.runtime.visit import Visit

BELOW = [Text(f"bundled:{path.name}", path.read_bytes(), shipped=True) for path in SHIPPED]
SEEDS = {**FEATURES, **{path.stem: json.loads(path.read_bytes()) for path in SHIPPED}}
MAX_STEPS: Final = 400

Chance = random.Random
Way = tuple[Any, ...]

VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2.5,
        10**30,
        1e300,
        "",
        " ",
        "x",
        "end",
        "a.b",
        "state",
        "satisfied",
        "WI-1",
    ),
    *("{{request}}", "\u0000", "é", "e\u0301", "😀", "a" * 100, "../x", "always", "workItems", "$.a", "item"),
    *([], {}, [[]], [{}], {"": {}}, ["a"], {"a": "b"}, {"type": "agent"}, {"to": "end"}, [None]),
)
KEYS = (
    *("", "x", "edges", "sockets", "materia", "prompt", "utility", "command", "when", "to", "loops", "exit"),
    *(
        "role",
        "type",
        "parse",
        "generator",
        "parallel",
        "id",
        "pipeline",
        "roles",
        "end",
        "state",
        "é",
        "__class__",
    ),
)


def ways(value: Any, at: Way = ()) -> Iterator[Way]:
    """The ways to all parts of a value but itself."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, part in members:
        yield (*at, key)
        yield from ways(part, (*at, key))


def damaged(data: Json, chance: Chance) -> Json:
    """A copy with one to three faults in its data."""
    data = copy.deepcopy(data)
    for _ in range(chance.randint(1, 3)):
        found = list(ways(data))
        if not found:
            break
        way = chance.choice(found)
        parent: Any = data
        for key in way[:-1]:
            parent = parent[key]
        chance.choice(DAMAGES)(parent, way[-1], data, chance)
    return data


def _replace(parent: Any, key: Any, _: Json, chance: Chance) -> None:
    parent[key] = copy.deepcopy(chance.choice(VALUES))


def _swap(parent: Any, key: Any, data: Json, chance: Chance) -> None:
    """Another part of the same file in its place."""
    other: Any = data
    for step in chance.choice(list(ways(data))):
        other = other[step]
    parent[key] = copy.deepcopy(other)


def _delete(parent: Any, key: Any, *_: Any) -> None:
    del parent[key]


def _duplicate(parent: Any, key: Any, _: Json, chance: Chance) -> None:
    if isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    else:
        parent[chance.choice(KEYS)] = copy.deepcopy(parent[key])


def _rename(parent: Any, key: Any, _: Json, chance: Chance) -> None:
    if isinstance(parent, dict):
        parent[chance.choice([*KEYS, f"{key}s", str(key)[:-1]])] = parent.pop(key)


DAMAGES: tuple[Callable[..., None], ...] = (_replace, _swap, _delete, _duplicate, _rename)


def broken(raw: bytes, chance: Chance) -> bytes:
    """A file with one fault in its bytes."""
    at = chance.randrange(len(raw))
    some = bytes(chance.choice(b'{}[]",:0aeE+-.\\/u\xff\x00\xc3\r\n\t ') for _ in range(chance.randint(1, 4)))
    return chance.choice(
        (raw[:at], raw[:at] + some + raw[at:], raw[:at] + some + raw[at + len(some) :], raw[at:])
    )


def example(seed: int) -> bytes:
    chance = random.Random(seed)  # noqa: S311 - nothing is kept secret
    data = SEEDS[chance.choice(list(SEEDS))]
    if chance.random() < 0.75:
        data = damaged(data, chance)
    raw = json.dumps(data, ensure_ascii=chance.random() < 0.5, indent=chance.choice((None, 1))).encode(
        errors="surrogatepass"
    )
    return broken(raw, chance) if chance.random() < 0.35 else raw


def check_findings(findings: tuple[Located, ...]) -> None:
    """Each has a place inside its text, and can be shown in every format."""
    for part in findings:
        assert part.place is not None or part.finding.rule == "unknown-loadout", part.finding
        places = [part.place] if part.place is not None else []
        for place in [*places, *(place for place, _ in part.related)]:
            assert 0 <= place.span.start <= place.span.end <= len(place.source.text), part.finding
    shown = ordered(findings)
    assert bool(text.render(shown, colour=True)) is bool(findings)
    assert len(json.loads(as_json.render(shown))["findings"]) == len(findings)


class Guesser:
    """An agent whose answers are sound objects with random verdicts, and texts."""

    spec = "guesser"

    def __init__(self, image: Image, chance: Chance) -> None:
        self._image, self._chance = image, chance

    def turn(self, request: Request) -> Reply:
        socket = self._image.program.sockets[request.socket]
        return Reply(answer(self._image, socket.id, self._chance) if socket.parse == "json" else "a text")

    def close(self) -> None:
        pass


def answer(image: Image, id_: str, chance: Chance) -> str:
    """What a socket may say: the fields that its assignments read, a verdict, for a generator some items."""
    socket = image.program.sockets[id_]
    count = chance.randint(0, 3)
    said: Json = {"satisfied": chance.random() < 0.6, "context": chance.choice(["", "c", "Why not."])}
    for _, source in socket.assign:
        root, *segments = source.split(".")
        if root == "$" and segments:
            _put(said, segments, chance.choice(["v", None, 1, ["w"]]))
    said["workItems"] = [{"title": f"T{n}", "context": "c"} for n in range(count)]
    return json.dumps(said)


def _put(value: Json, segments: list[str], leaf: Any) -> None:
    for segment in segments[:-1]:
        value = value.setdefault(segment, {}) if isinstance(value.get(segment, {}), dict) else {}
    if value.get(segments[-1], MISSING) is MISSING:
        value[segments[-1]] = leaf


def check_cast(image: Image, chance: Chance, cwd: Path) -> None:
    """A cast of it ends by itself, with a status, and says why where it fails."""
    assert image_from_data(json.loads(json.dumps(image_data(image)))) == image

    def stand_in(visit: Visit) -> Completed:
        out = answer(image, visit.socket.id, chance).encode()
        return Completed(
            out, b"", len(out), 0, chance.choice([0, 0, 0, 1]), None, timed_out=False, seconds=0.0
        )

    made = Order(
        image, "a request", Guesser(image, chance), cwd, cwd / "casts", {}, stand_in=stand_in, durable=False
    )
    result = run(made)
    assert result.status in ("complete", "failed", "waiting")
    assert len(result.cast.path) <= MAX_STEPS
    if result.status == "failed":
        assert result.cast.failure is not None
        assert result.cast.failure["message"]
    json.dumps(result.as_data())


def check_example(seed: int, cwd: Path) -> str:
    """What came of one example: refused, or the status of a cast."""
    texts = [*BELOW, Text("loadout.json", example(seed))]
    if seed % 5 == 0:  # a damaged file below a sound one
        texts.append(Text("top.json", json.dumps(FEATURES["work"]).encode()))
    findings = check(texts)
    check_findings(findings)
    compiled = compile_loadout(texts)
    check_findings(compiled.findings)
    errors = [part for part in compiled.findings if part.finding.severity is Severity.ERROR]
    assert (compiled.image is None) == bool(errors), [part.finding for part in errors]
    if compiled.image is None:
        return "refused"
    check_cast(compiled.image, random.Random(seed), cwd)  # noqa: S311
    return "ran"


def check_range(seeds: range, cwd: Path) -> None:
    came = set()
    for seed in seeds:
        try:
            came.add(check_example(seed, cwd))
        except Exception as error:
            error.add_note(f"example {seed}: {example(seed)!r}")
            raise
    assert came == {"refused", "ran"}


@pytest.fixture
def memory() -> Iterator[Path]:
    base = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
    with tempfile.TemporaryDirectory(dir=base if base.is_dir() else None) as folder:
        yield Path(folder)


@pytest.mark.parametrize("part", range(4))
def test_damaged_loadouts(part: int, memory: Path) -> None:
    check_range(range(part * 100, part * 100 + 100), memory)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_many_damaged_loadouts(part: int, memory: Path) -> None:
    check_range(range(1_000 + part * 1_000, 2_000 + part * 1_000), memory)
