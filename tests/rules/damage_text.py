"""Damage to the text and the shape of a file, and to what it imports."""

from __future__ import annotations

import json
import re
from typing import Final

from damage import KEY, Case, Damage, Expected, Json, member

from materiac.source import Pointer

_FREE: Final = frozenset({"assign", "params", "sockets", "loops", "loadouts", "materia"})
"""Objects that have keys of the author's own."""
_OTHER: Final = frozenset({"params", "properties"})
"""What is in these is none of the file's, or has a form of its own."""
_TYPED: Final = frozenset({"to", "when", "prompt", "generator", "cursor", "sockets", "entry", "parse"})
_LIMITS: Final = frozenset({"maxTraversals", "timeoutMs", "maxTokens"})


def break_syntax(case: Case) -> Expected:
    """A colon becomes a semicolon."""
    colon = case.sound.random.choice([match.start(1) for match in re.finditer(r'"(:) ', case.text)])
    case.raw = f"{case.text[:colon]};{case.text[colon + 1 :]}".encode()
    return Expected(colon)


def break_encoding(case: Case) -> Expected:
    offset = case.sound.random.choice([match.end() for match in re.finditer("\n", case.text)])
    case.raw = case.text[:offset].encode() + b"\xff" + case.text[offset:].encode()
    return Expected(offset)


def repeat_key(case: Case) -> Expected:
    """A socket is written twice."""
    sockets = case.sound.spec["sockets"]
    name = case.sound.random.choice(list(sockets))
    sockets["@"] = sockets[name]
    offset = case.text.index('"@"')
    case.raw = case.text.replace('"@"', json.dumps(name)).encode()
    return Expected(offset)


def add_key(case: Case) -> Pointer:
    """An object gets a key that means nothing."""
    objects = {at: value for at, value in member(case.config) if isinstance(value, dict)}
    at = case.sound.random.choice([at for at in objects if not _FREE & {*at[-1:]} and not _OTHER & {*at}])
    objects[at]["retriez"] = 3
    return (*at, "retriez", KEY)


def spoil_value(case: Case) -> Pointer:
    """A value becomes one of another type."""
    values = member(case.config)
    typed = [at for at, value in values if _TYPED & {*at[-1:]} and not isinstance(value, dict)]
    at = case.sound.random.choice(typed)
    _put(case.config, at, 7)
    return at


def break_limit(case: Case) -> Pointer:
    limits = [at for at, _ in member(case.config) if _LIMITS & {*at[-1:]}]
    at = case.sound.random.choice(limits)
    _put(case.config, at, case.sound.random.choice((0, -1, 1.5)))
    return at


def misname(case: Case) -> Pointer:
    """A materia gets a name that none may have."""
    name = case.sound.socket("first")["materia"]
    wrong = case.sound.random.choice((f".{name}", f"{name}/2", f" {name}", "end"))
    case.config["materia"][wrong] = case.config["materia"].pop(name)
    case.sound.socket("first")["materia"] = wrong
    return ("materia", wrong, KEY)


def write_early(case: Case) -> Pointer:
    """What only the older implementation had."""
    key = case.sound.random.choice(("compaction", "webui", "central", "finalization"))
    case.config[key] = {}
    return (key, KEY)


def write_line(case: Case) -> Pointer:
    """A command is one line for a shell."""
    materia = case.sound.materia("count")
    materia["command"] = " ".join(materia["command"])
    return (*case.sound.materia_at("count"), "command")


def import_nothing(case: Case) -> Pointer:
    case.config["import"] = ["gone.json"]
    return ("import", 0)


def import_from_outside(case: Case) -> Pointer:
    case.config["import"] = ["../gone.json"]
    return ("import", 0)


def import_itself(case: Case) -> Pointer:
    case.config["import"] = ["loadout.json"]
    case.files["loadout.json"] = case.text
    return ("import", 0)


def import_two(case: Case) -> Pointer:
    """Two imports bring in different things of one name."""
    case.config["import"] = ["one.json", "two.json"]
    for file, prompt in (("one.json", "One."), ("two.json", "Two.")):
        case.files[file] = json.dumps({"materia": {"Both": {"prompt": prompt}}})
    return ("import", 1)


def _put(config: Json, at: Pointer, value: object) -> None:
    *way, last = at
    for key in way:
        config = config[key]  # type: ignore[index]
    config[last] = value  # type: ignore[index]


DAMAGES: Final[dict[str, Damage]] = {
    "syntax": break_syntax,
    "encoding": break_encoding,
    "duplicate-key": repeat_key,
    "import-missing": import_nothing,
    "import-outside": import_from_outside,
    "import-cycle": import_itself,
    "import-clash": import_two,
    "unknown-key": add_key,
    "invalid-value": spoil_value,
    "invalid-name": misname,
    "legacy-form": write_early,
    "invalid-limit": break_limit,
    "shell-string": write_line,
}
