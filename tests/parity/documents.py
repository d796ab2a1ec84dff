"""Random loadout files: sound shapes with nasty words in them, and shapes that nobody should write."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Json = Any

KEYWORDS = (
    *(
        "json",
        "text",
        "visits",
        "bytes",
        "assign",
        "foreach",
        "advance",
        "always",
        "satisfied",
        "not_satisfied",
    ),
    *(
        "loadout",
        "materia",
        "entry",
        "loop",
        "never",
        "every",
        "after",
        "at",
        "to",
        "max",
        "end",
        "true",
        "null",
    ),
    *(
        "import",
        "path",
        "agent",
        "utility",
        "over",
        "as",
        "cursor",
        "done",
        "when",
        "items",
        "exit",
        "property",
    ),
)

_LETTERS = st.sampled_from("aZ0._- é漢ñकि٣")
NAMES = st.one_of(
    st.text(_LETTERS, min_size=1, max_size=8),
    st.sampled_from(KEYWORDS),
    st.sampled_from(
        ("plan.workItems", ".workItems", "-x", "a->b", "5", "1e5", "a b", "#x", "@x", "x:", 'q"q')
    ),
)
_PIECES = st.sampled_from(
    ("a", "{{request}}", '"', '"""', "\\", '\\"""', "\n", "\n\n", " ", "    ", "\t", "\r", "\r\n", "🎉", "é",
     "#", "# materiac: ignore[x] y", "{", "}", "\x0b", "\x1b", "\u2028", "\ufeff", "\u202e", "->", "\\u0041",
     "'", "x" * 60)
)  # fmt: skip
PROMPTS = st.one_of(
    st.lists(_PIECES, max_size=12).map("".join), st.text(max_size=20).filter(lambda t: "\0" not in t)
)

ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | PROMPTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
VERDICTS = st.sampled_from(("always", "satisfied", "not_satisfied"))
COUNTS = st.one_of(st.integers(min_value=0), st.floats(allow_nan=False, allow_infinity=False))
IGNORES = st.lists(
    st.fixed_dictionaries(
        {"rule": st.sampled_from(("dead-edge", "x", "a b", ""))}, optional={"reason": PROMPTS}
    ),
    max_size=2,
)
EXTRAS = {
    "color": ANY,
    "@odd key": ANY,
    "label": PROMPTS,
    "x-materiac": ANY | st.fixed_dictionaries({"ignore": IGNORES}),
}


def objects(needed: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Json]:
    """Objects of these members; now and then a member is anything at all."""
    wild = {key: st.one_of(value, value, value, ANY) for key, value in optional.items()}
    return st.fixed_dictionaries(needed, optional={**wild, **EXTRAS})


EDGES = objects({"to": NAMES}, {"when": VERDICTS, "maxTraversals": COUNTS, "id": NAMES})
ASSIGNS = st.dictionaries(NAMES, NAMES, max_size=3)
OPTIONAL_NAMES = {"as": NAMES, "cursor": NAMES, "done": NAMES}
SOCKETS = objects(
    {},
    {
        "materia": NAMES,
        "parse": st.sampled_from(("json", "text")),
        "assign": ASSIGNS,
        "limits": st.fixed_dictionaries({}, optional={"maxVisits": COUNTS, "maxOutputBytes": COUNTS}),
        "edges": st.lists(EDGES, max_size=3),
        "foreach": st.fixed_dictionaries({"items": NAMES}, optional=OPTIONAL_NAMES),
        "advance": st.fixed_dictionaries(
            {"cursor": NAMES, "items": NAMES}, optional={"when": VERDICTS, "done": NAMES}
        ),
        "role": NAMES,
        "prompt": PROMPTS,
    },
)
EXITS = objects({"from": NAMES, "targetSocketId": NAMES}, {"condition": VERDICTS, "id": NAMES})
LOOPS = objects(
    {"sockets": st.lists(NAMES, max_size=3)},
    {
        "consumes": st.fixed_dictionaries(
            {"from": NAMES}, optional={"output": st.just("workItems"), "as": NAMES, "cursor": NAMES}
        ),
        "iterator": st.fixed_dictionaries({"items": NAMES}, optional=OPTIONAL_NAMES),
        "exits": st.lists(EXITS, max_size=2),
        "exit": ANY,
        "parallel": st.fixed_dictionaries({}, optional={"maxConcurrency": COUNTS}),
    },
)
PROPERTIES = st.one_of(
    st.fixed_dictionaries({"never": NAMES, "before": NAMES}),
    st.fixed_dictionaries({"every path": st.lists(NAMES, min_size=1, max_size=2), "passes": NAMES}),
    st.fixed_dictionaries({"after every": NAMES, "comes": NAMES}),
    st.fixed_dictionaries(
        {"at most": COUNTS, "of": NAMES, "between": st.lists(NAMES, min_size=2, max_size=2)}
    ),
    ANY,
)
LOADOUTS = objects(
    {},
    {
        "entry": NAMES,
        "description": PROMPTS,
        "sockets": st.dictionaries(NAMES, SOCKETS | ANY, max_size=4),
        "loops": st.dictionaries(NAMES, LOOPS | ANY, max_size=2),
        "properties": st.lists(PROPERTIES, max_size=3),
    },
)
MATERIA = objects(
    {},
    {
        "type": st.sampled_from(("agent", "utility")),
        "prompt": PROMPTS,
        "tools": NAMES
        | st.fixed_dictionaries({"type": st.just("custom"), "tools": st.lists(NAMES, max_size=3)}),
        "model": NAMES,
        "thinking": NAMES,
        "utility": NAMES,
        "parse": NAMES,
        "handoff": NAMES,
        "command": st.lists(PROMPTS, max_size=3),
        "writes": st.lists(NAMES, max_size=2),
        "env": st.lists(NAMES, max_size=2),
        "params": ANY,
        "cost": ANY,
        "timeoutMs": st.integers(),
        "assign": ASSIGNS,
        **{
            flag: st.booleans()
            for flag in ("generator", "parallel", "parallelSafe", "multiTurn", "idempotent")
        },
    },
)
_ANY_FILES = objects(
    {},
    {
        "import": st.lists(NAMES, max_size=2),
        "artifactDir": NAMES,
        "activeLoadout": NAMES,
        "budget": st.dictionaries(NAMES, ANY, max_size=3),
        "limits": st.dictionaries(NAMES, ANY, max_size=3),
        "agents": ANY,
        "loadouts": st.dictionaries(NAMES, LOADOUTS | ANY, max_size=2),
        "materia": st.dictionaries(NAMES, MATERIA | ANY, max_size=3),
        "pipeline": ANY,
        "roles": ANY,
    },
)

_FULL_LOADOUTS = st.fixed_dictionaries(
    {"entry": NAMES, "sockets": st.dictionaries(NAMES, SOCKETS, min_size=1, max_size=2)},
    optional={"loops": st.dictionaries(NAMES, LOOPS, min_size=1, max_size=1), "description": PROMPTS},
)
_PROMPTED = st.fixed_dictionaries({"prompt": PROMPTS}, optional={"label": PROMPTS, "model": NAMES})
_FULL_FILES = st.one_of(
    st.fixed_dictionaries({"loadouts": st.dictionaries(NAMES, _FULL_LOADOUTS, min_size=1, max_size=1)}),
    st.fixed_dictionaries({"materia": st.dictionaries(NAMES, _PROMPTED, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"materia": st.dictionaries(NAMES, MATERIA, min_size=1, max_size=1)}),
)
FILES = _ANY_FILES | _FULL_FILES
"""Where anything may be anywhere, large parts are rare: half of the files have one for certain."""
