"""What is named at a place: by its pointer in JSON, by the words before it in the language of our own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from materiac.lsp.known import Role
from materiac.source import Pointer

_ANY: Final = None

_VALUES: Final[Sequence[tuple[tuple[Any, ...], Role]]] = (
    (("loadouts", _ANY, "entry"), "socket"),
    (("loadouts", _ANY, "sockets", _ANY, "materia"), "materia"),
    (("loadouts", _ANY, "sockets", _ANY, "edges", _ANY, "to"), "target"),
    (("loadouts", _ANY, "sockets", _ANY, "foreach", "done"), "target"),
    (("loadouts", _ANY, "sockets", _ANY, "foreach", "items"), "list"),
    (("loadouts", _ANY, "sockets", _ANY, "advance", "done"), "target"),
    (("loadouts", _ANY, "sockets", _ANY, "advance", "items"), "list"),
    (("loadouts", _ANY, "sockets", _ANY, "advance", "cursor"), "cursor"),
    (("loadouts", _ANY, "sockets", _ANY, "assign", _ANY), "source"),
    (("loadouts", _ANY, "loops", _ANY, "sockets", _ANY), "socket"),
    (("loadouts", _ANY, "loops", _ANY, "consumes", "from"), "generator"),
    (("loadouts", _ANY, "loops", _ANY, "iterator", "items"), "list"),
    (("loadouts", _ANY, "loops", _ANY, "iterator", "done"), "target"),
    (("loadouts", _ANY, "loops", _ANY, "exits", _ANY, "from"), "member"),
    (("loadouts", _ANY, "loops", _ANY, "exits", _ANY, "targetSocketId"), "target"),
    (("loadouts", _ANY, "loops", _ANY, "exit", "from"), "member"),
    (("loadouts", _ANY, "loops", _ANY, "exit", "to"), "target"),
    *(
        (("loadouts", _ANY, "properties", _ANY, key), "socket")
        for key in ("never", "before", "passes", "after every", "comes", "of")
    ),
    *((("loadouts", _ANY, "properties", _ANY, key, _ANY), "socket") for key in ("every path", "between")),
    (("activeLoadout",), "loadout"),
    (("materia", _ANY, "utility"), "utility"),
    (("materia", _ANY, "tools"), "scope"),
    (("materia", _ANY, "tools", "tools", _ANY), "tool"),
    (("materia", _ANY, "writes", _ANY), "state"),
    (("materia", _ANY, "assign", _ANY), "source"),
    (("agents", "default"), "agent"),
    (("agents", "scopes", _ANY), "agent"),
    (("agents", "materia", _ANY), "agent"),
    (("scenarios", _ANY, "loadout"), "loadout"),
    (("scenarios", _ANY, "expect", "path", _ANY), "socket"),
    (("scenarios", _ANY, "expect", "pathHas", _ANY), "socket"),
)

_KEYS: Final[Sequence[tuple[tuple[Any, ...], Role]]] = (
    (("loadouts", _ANY, "sockets", _ANY, "assign"), "state"),
    (("materia", _ANY, "assign"), "state"),
    (("agents", "materia"), "materia"),
    (("scenarios", _ANY, "agent", "sockets"), "socket"),
    (("scenarios", _ANY, "utilities"), "socket"),
    (("scenarios", _ANY, "expect", "visits"), "socket"),
)


def of_value(pointer: Pointer) -> Role | None:
    """What the value at a pointer names."""
    return _matched(_VALUES, pointer)


def of_key(pointer: Pointer) -> Role | None:
    """What the keys of the object at a pointer name."""
    return _matched(_KEYS, pointer)


def _matched(table: Sequence[tuple[tuple[Any, ...], Role]], pointer: Pointer) -> Role | None:
    for pattern, role in table:
        if len(pattern) == len(pointer) and all(
            want is _ANY or want == part for want, part in zip(pattern, pointer, strict=True)
        ):
            return role
    return None


class _Rule(NamedTuple):
    """The types of the last tokens before a name, in blocks of some kinds, and what it names then."""

    kinds: frozenset[str]
    types: tuple[str, ...]
    role: Role


def _rules(kinds: str, roles: Mapping[str, Role]) -> list[_Rule]:
    blocks = frozenset(kinds.split())
    return [_Rule(blocks, tuple(types.split()), role) for types, role in roles.items()]


_NAME: Final = "NAME"
_BARE: Final = frozenset({"WORD", "STRING", "SOCKET_ID"})

_RULES: Final = (
    *_rules("top", {"ACTIVE": "loadout", "SCENARIOS OF": "loadout"}),
    *_rules(
        "loadout loop members",
        {
            "ENTRY": "socket",
            "DONE": "target",
            "FOREACH": "list",
            "ITEMS": "list",
            "ADVANCE": "cursor",
            "ADVANCE NAME OVER": "list",
            "OVER": "generator",
            "EXIT": "member",
            "ASSIGN": "state",
            "ASSIGN NAME EQUALS": "source",
            "LPAR": "socket",
            "COMMA": "socket",
            "NAME COLON": "materia",
            "NEVER": "socket",
            "BEFORE": "socket",
            "EVERY PATH": "socket",
            "TO": "socket",
            "PASSES": "socket",
            "AFTER EVERY": "socket",
            "COMES": "socket",
            "OF": "socket",
            "BETWEEN": "socket",
            "AND": "socket",
            "ARROW": "target",
        },
    ),
    *_rules(
        "materia",
        {"UTILITY": "utility", "TOOLS": "scope", "ASSIGN": "state", "ASSIGN NAME EQUALS": "source"},
    ),
    *_rules("list:tools", {"LBRACKET": "tool", "COMMA": "tool"}),
    *_rules("list:writes", {"LBRACKET": "state", "COMMA": "state"}),
    *_rules("scenario", {"LOADOUT": "loadout"}),
    *_rules("answers", {"LBRACE": "socket"}),
    *_rules(
        "expect",
        {
            "PATH": "socket",
            "PASSES": "socket",
            "ARROW": "socket",
            "VISITS": "socket",
            "COMMA": "socket",
            "PROMPT": "socket",
        },
    ),
)


def of_words(kind: str, types: Sequence[str]) -> Role | None:
    """What a name names behind tokens of these types, in a block of a kind; the longest rule counts."""
    fitting = [rule for rule in _RULES if kind in rule.kinds and _ends(types, rule.types)]
    return max(fitting, key=lambda rule: len(rule.types)).role if fitting else None


def _ends(types: Sequence[str], wanted: Sequence[str]) -> bool:
    last = types[-len(wanted) :]
    return len(last) == len(wanted) and all(
        want == found or (want == _NAME and found in _BARE) for want, found in zip(wanted, last, strict=True)
    )
