"""A file with another name for a socket means the same, up to the name: to `check`, and as it is compiled."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from talk import marked

from materiac import formatting, languages
from materiac.lsp.looks import Behaviour
from materiac.lsp.reading import Reading
from materiac.lsp.refusals import RefusedError
from materiac.lsp.renaming import applied, rename
from materiac.lsp.symbols import symbols
from materiac.pipeline import Text, check, compile_loadout
from materiac.program import from_data, image_data
from materiac.source import Language

sys.path.insert(0, str(Path(__file__).parent.parent / "reference"))

NEW = "zulu7"
"""No part of any other word of these files."""

Json = dict[str, Any]


def renamed(text: str, offset: int, language: Language, below: Json | None = None, new: str = NEW) -> str:
    document, findings = languages.document(f"a.{language}", text.encode(), language)
    assert document is not None, findings
    reading = Reading(document)
    mention = reading.at(offset)
    assert mention is not None
    behaviours = {name: Behaviour(fields, None) for name, fields in (below or {}).items()}
    return applied(text, rename(reading, mention, new, behaviours))


def meaning(text: str, language: Language) -> tuple[list[Any], Json | None]:
    texts = (Text("a", text.encode(), language=language),)
    found = [(part.finding.severity, part.finding.rule, part.finding.message) for part in check(texts)]
    image = compile_loadout(texts).image
    return found, None if image is None else image_data(image)


def same_but_for_the_name(text: str, after: str, old: str, language: Language, new: str = NEW) -> None:
    found, image = meaning(text, language)
    found_after, image_after = meaning(after, language)
    assert [(*part[:2], part[2].replace(new, old)) for part in found_after] == found
    assert (image is None) == (image_after is None)
    if image is not None and image_after is not None:
        program = json.loads(json.dumps(image_after["program"]).replace(new, old))
        assert from_data(program).digest() == image["hash"]


def with_readers(config: Json, chance: Random) -> Json:
    """A random file in which sockets and prompts read the cursors of others."""
    sockets = config["loadouts"]["Random"]["sockets"]
    for materia in config["materia"].values():
        if "prompt" in materia:
            materia["prompt"] = f"Work at {{{{ cursor.{chance.choice(list(sockets))}Index }}}}."
    for socket in sockets.values():
        if chance.random() < 0.5:
            socket.setdefault("assign", {})["c"] = f"cursor.{chance.choice(list(sockets))}Index"
    config["scenarios"] = [{"name": "x", "agent": {"sockets": dict.fromkeys(sockets, "y")}}]
    return config


@pytest.mark.parametrize("seed", range(24))
def test_any_socket_of_any_loadout(seed: int) -> None:
    play = importlib.import_module("random_loadouts").play
    config = with_readers(play(seed).config, Random(seed))  # noqa: S311 (the same each time)
    for language in ("json", "dsl"):
        text = formatting.converted(config, language)
        for name in config["loadouts"]["Random"]["sockets"]:
            at = text.index(f'"{name}": {{' if language == "json" else f"  {name}:") + 2
            new = f"{name}{NEW}"  # findings list names in order, and this is the same then
            try:
                after = renamed(text, at, language, new=new)
            except RefusedError as refusal:
                assert "cursor" in str(refusal)  # noqa: PT017 (which is right where names are shared)
                continue
            same_but_for_the_name(text, after, name, language, new)


FOREACH = """loadout L {
  entry plan
  pl|an: Planner
    foreach state.xs as x
    advance planIndex over state.xs
    assign at = cursor.planIndex
    -> plan
  tell: Teller
    assign last = cursor.planIndex
    -> end
}
materia Planner { prompt \"\"\"
  At {{cursor.planIndex}} of {{ cursor.planIndex }}; not \\{{cursor.planIndex}} nor cursor.planIndex.
  \"\"\" }
materia Teller { assign end = cursor.planIndex  prompt "Tell {{cursor.planIndex}}." }
"""
EVERYWHERE = (
    FOREACH.replace("|", "")
    .replace("planIndex", "zulu7Index")
    .replace("plan:", "zulu7:")
    .replace("entry plan", "entry zulu7")
    .replace("-> plan", "-> zulu7")
    .replace("\\{{cursor.zulu7Index}} nor cursor.zulu7Index", "\\{{cursor.planIndex}} nor cursor.planIndex")
)


def test_the_cursor_is_renamed_wherever_it_is_read() -> None:
    plain, offset = marked(FOREACH)
    after = renamed(plain, offset, "dsl")
    assert after == EVERYWHERE
    same_but_for_the_name(plain, after, "plan", "dsl")


MORE = "loadout M { entry plan  plan: Teller foreach state.ys advance planIndex over state.ys -> plan }\n"
LOOP = "  loop w (tell) { items state.ys cursor "


@pytest.mark.parametrize(
    ("text", "below", "new", "why"),
    [
        (FOREACH + MORE, {}, NEW, "'Teller' reads 'cursor.planIndex' in loadout 'M' too"),
        (
            FOREACH.replace("}\n", LOOP + "planIndex }\n}\n", 1),
            {},
            NEW,
            "another cursor is called 'planIndex' too: give one of them a name of its own",
        ),
        (
            FOREACH.replace("\n}\n", f"\n{LOOP}zulu7Index }}\n}}\n", 1),
            {},
            NEW,
            "the cursor of 'zulu7' would be 'zulu7Index', and there is one of that name",
        ),
        (FOREACH, {}, "a.b", "'cursor.planIndex' is read, and no cursor with a '.' in its name can be"),
        (
            FOREACH.replace("tell: Teller", "tell: Far"),
            {"Far": {"prompt": "{{cursor.planIndex}}"}},
            NEW,
            "materia 'Far' of another file reads 'cursor.planIndex'",
        ),
    ],
    ids=["of another loadout", "of a loop", "taken", "with a dot", "of another file"],
)  # fmt: skip
def test_what_cannot_be_told_apart_is_refused(text: str, below: Json, new: str, why: str) -> None:
    plain, offset = marked(text.replace("\n}\n", "\n}\n"))
    with pytest.raises(RefusedError) as error:
        renamed(plain, offset, "dsl", below, new)
    assert str(error.value) == why


def test_a_loadout_that_is_named_by_its_id_is_the_same() -> None:
    text = (
        'loadout Work { @id "w-2" entry a  |a: A -> end }\nloadout Rest { entry a  a: A -> end }\n'
        'active w-2\nscenario "s" { loadout w-2 agent { a: "x" } expect { path a } }\n'
        'scenario "t" { loadout Rest agent { a: "x" } }\nmateria A { prompt "x" }\n'
    )
    plain, offset = marked(text)
    after = renamed(plain, offset, "dsl")
    assert after == plain.replace("entry a  a:", "entry zulu7  zulu7:", 1).replace(
        'agent { a: "x" } expect { path a }', 'agent { zulu7: "x" } expect { path zulu7 }'
    )
    alone = text.replace("loadout w-2 agent", "agent")
    plain, offset = marked(alone)
    assert 'agent { zulu7: "x" } expect' in renamed(plain, offset, "dsl")


EARLY = {
    "pipeline": {
        "entry": "plan",
        "sockets": {
            "plan": {
                "role": "R",
                "foreach": {"items": "state.xs"},
                "advance": {"cursor": "planIndex", "items": "state.xs"},
                "edges": [{"to": "plan"}],
            },
            "tell": {"systemPrompt": "at {{cursor.planIndex}}", "edges": [{"to": "end"}]},
        },
        "loops": {"plan": {"sockets": ["plan", "tell"]}},
    },
    "roles": {"R": {"systemPrompt": "So {{ cursor.planIndex }} it is."}},
    "scenarios": [{"name": "x", "agent": {"sockets": {"plan": "y"}}}],
}


def test_early_forms() -> None:
    text = json.dumps(EARLY, indent=2)
    after = renamed(text, text.index('"plan": {') + 1, "json")
    assert json.loads(after)["loadouts" if "loadouts" in after else "pipeline"]["loops"] == {
        "plan": {"sockets": [NEW, "tell"]}
    }
    assert after.count("planIndex") == 0
    same_but_for_the_name(text, after, "plan", "json")


def test_the_outline_of_early_forms() -> None:
    document = languages.document("a.json", json.dumps(EARLY).encode(), "json")[0]
    assert document is not None
    names = [(part.kind, part.name, [inner.name for inner in part.parts]) for part in symbols(document)]
    assert names == [
        ("loadout", "pipeline", ["plan", "tell", "plan"]),
        ("materia", "R", []),
        ("scenario", "x", []),
    ]


def test_files_of_the_project() -> None:
    folder = Path(__file__).resolve().parents[2] / "loadouts"
    for file in sorted(folder.glob("*.json")):
        text = file.read_text(encoding="utf-8")
        for name, loadout in json.loads(text)["loadouts"].items():
            socket = next(iter(loadout["sockets"]))
            document = languages.document("a.json", text.encode(), "json")[0]
            assert document is not None
            at = document.span(("loadouts", name, "sockets", socket)).start
            at = text.rindex(f'"{socket}"', 0, at) + 1
            same_but_for_the_name(text, renamed(text, at, "json"), socket, "json")
