"""Early forms are fixed one by one, and a fixed file means what it meant."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from samples import AGENT, Json, loadout, socket, working

from materiac import formatting, languages
from materiac.cli.loading import bundled
from materiac.diagnostic import Located
from materiac.fixing.rounds import Mended, mend
from materiac.normalize import normalize
from materiac.pipeline import Text, check, compile_loadout
from materiac.program import to_data
from materiac.source import Document, Language, Source

FILES = sorted((Path(__file__).parent.parent / "conformance" / "cases").glob("*.json"))
BELOW = bundled()


def config_of(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8")).get("config")


def is_early(config: Any) -> bool:
    """Whether a file has early forms."""
    return bool(normalize(Document(Source("x", ""), config, dict), {})[1])


CASES = [file for file in FILES if is_early(config_of(file))]


def text_of(source: Source, text: str) -> list[Text]:
    return [*BELOW, Text(source.name, text.encode(), language=source.language)]


def looked(source: Source, text: str) -> Sequence[Located]:
    return check(text_of(source, text))


def fixed(source: Source, *, unsafe: bool = False) -> Mended:
    return mend(source, lambda text: looked(source, text), unsafe=unsafe)


def source_of(config: Any, language: Language = "json") -> Source:
    text = config if isinstance(config, str) else formatting.written(config, language)
    return Source(f"x.{language}", text, language)


def early(source: Source, text: str) -> list[Located]:
    return [part for part in looked(source, text) if part.finding.rule == "legacy-form"]


def program(source: Source, text: str, name: str | None) -> Json | None:
    """The program that a text stands for; its materia have the names of the sockets that use them."""
    image = compile_loadout(text_of(source, text), name).image
    if image is None:
        return None
    data = to_data(image.program)
    users = {part["materia"]: part["id"] for part in reversed(data["sockets"])}
    for part in data["materia"]:
        part["name"] = users[part["name"]]
    for part in data["sockets"]:
        part["materia"] = users[part["materia"]]
    data["materia"].sort(key=lambda part: part["name"])
    return data


def assert_same(config: Any, language: Language = "json", name: str | None = None) -> str:
    """The fixed text, after it was held against the early one."""
    source = source_of(config, language)
    result = fixed(source)
    before, after = program(source, source.text, name), program(source, result.text, name)
    assert before is not None
    assert after == before
    assert early(source, result.text) == []
    assert result.left_out == ()
    return result.text


@pytest.mark.parametrize("language", ["json", "dsl"])
@pytest.mark.parametrize("file", CASES, ids=lambda file: file.stem)
def test_the_cases_of_the_language_mean_the_same(file: Path, language: Language) -> None:
    source = source_of(config_of(file), language)
    result = fixed(source)
    before, after = program(source, source.text, None), program(source, result.text, None)
    if before is not None:
        assert after == before
    assert not any(part.finding.fix and part.finding.fix.safe for part in early(source, result.text))


def with_exit(exit_: Json, **change: Any) -> Json:
    data = working(check={"advance": None}, **change)
    del data["loadouts"]["L"]["sockets"]["check"]["advance"]
    loop = data["loadouts"]["L"]["loops"]["work"]
    del loop["exits"]
    loop["exit"] = exit_
    return data


PIPELINE: Json = {"entry": "a", "sockets": {"a": {"materia": "A"}}}


@pytest.mark.parametrize("language", ["json", "dsl"])
@pytest.mark.parametrize(
    "config",
    [
        pytest.param({"webui": {"a": 1}, **loadout({"a": socket()})}, id="a key of the file"),
        pytest.param(
            loadout({"a": socket(compaction={})}, central=True), id="keys of a socket and a loadout"
        ),
        pytest.param(
            loadout({"a": socket()}, limits={"maxSocketVisits": 3, "maxItems": 4}),
            id="a limit beside another",
        ),
        pytest.param(
            loadout({"a": {"materia": "A"}}, materia={"A": {**AGENT, "generates": None}}), id="generates null"
        ),
        pytest.param({"pipeline": PIPELINE, "materia": {"A": AGENT}}, id="pipeline"),
        pytest.param(
            {
                "pipeline": PIPELINE,
                "activeLoadout": "pipeline",
                **loadout({"b": socket()}, materia={"A": AGENT}),
            },
            id="pipeline beside loadouts",
        ),
        pytest.param(
            {"pipeline": PIPELINE, "roles": {"A": {"systemPrompt": "x"}, "B": {"prompt": "y"}}}, id="roles"
        ),
        pytest.param(
            {
                "pipeline": {"entry": "a", "sockets": {"a": {"materia": "A"}}},
                "roles": {"A": {"systemPrompt": "x"}, "B": {"prompt": "hidden"}},
                "materia": {"B": AGENT},
            },
            id="roles beside materia, one hidden",
        ),
        pytest.param(loadout({"a": socket(type="agent")}), id="a type beside materia"),
        pytest.param(
            {"loadouts": {"L": {"entry": "a", "sockets": {"a": {"prompt": "x", "edges": [{"to": "end"}]}}}}},
            id="a socket with a prompt",
        ),
        pytest.param(
            loadout(
                {"Agent": {"prompt": "x", "edges": [{"to": "b"}]}, "b": {"utility": "noop", "timeoutMs": 9}}
            ),
            id="sockets whose name is taken, or that run something",
        ),
        pytest.param(
            loadout({"a": {"role": "R", "prompt": "y", "type": "agent"}}, materia={"R": {"prompt": "x"}}),
            id="a socket with a role and a prompt",
        ),
        pytest.param(
            {
                "loadouts": {
                    "L": {"entry": "a", "sockets": {"a": {"prompt": "x"}}},
                    "M": {"entry": "a", "sockets": {"a": {"prompt": "y"}}},
                },
                "activeLoadout": "L",
            },
            id="two sockets of one name",
        ),
        pytest.param(
            loadout(
                {"a": {"materia": "U"}},
                materia={"U": {"command": ["node", "config/utilities/detect-vcs.mjs"]}},
            ),
            id="a command that is a built-in",
        ),
        pytest.param(
            loadout({"a": {"command": ["node", "x/config/utilities/detect-vcs.mjs"]}}),
            id="such a command in a socket",
        ),
        pytest.param(with_exit({"from": "check", "when": "satisfied", "to": "tell"}), id="an exit"),
        pytest.param(with_exit({"from": "check", "to": "tell"}), id="an exit without a condition"),
        pytest.param(with_exit({"from": "check", "when": "satisfied", "to": "end"}), id="an exit to the end"),
    ],
)
def test_each_form(config: Json, language: Language) -> None:
    assert_same(config, language)


@pytest.mark.parametrize("language", ["json", "dsl"])
@pytest.mark.parametrize(
    ("sockets", "others", "names"),
    [
        pytest.param(["build"], {}, ["build-2"], id="as a materia that ships with the package"),
        pytest.param(["wRITER"], {"Writer": AGENT}, ["wRITER-2"], id="as one of the file"),
        pytest.param(["x", "y"], {"X": AGENT, "x-2": AGENT, "Y": AGENT}, ["x-3", "y-2"], id="several"),
        pytest.param(["x" * 64], {"X" * 64: AGENT}, ["x" * 62 + "-2"], id="a name as long as may be"),
        pytest.param(["straße"], {"STRASSE": AGENT}, ["straße-2"], id="letters that fold to two"),
    ],
)
def test_a_new_name_is_free_in_any_case(
    sockets: list[str], others: Json, names: list[str], language: Language
) -> None:
    ways = pairwise([*sockets, "end"])
    written = {id_: {"prompt": "x {{request}}", "edges": [{"to": to}]} for id_, to in ways}
    text = assert_same(loadout(written, materia=others), language)
    source = source_of(text, language)
    document = languages.read(source.name, text.encode(), language)[1]
    assert document is not None
    assert list(document.data["materia"])[-len(names) :] == names
    assert not any(part.finding.rule == "case-clash" for part in looked(source, text))


def test_two_loadouts_whose_sockets_differ_in_case() -> None:
    each = {"M": "a", "L": "A", "N": "a"}
    loadouts = {name: {"entry": id_, "sockets": {id_: {"prompt": name}}} for name, id_ in each.items()}
    text = assert_same({"loadouts": loadouts}, name="L")
    assert list(json.loads(text)["materia"]) == ["a", "A-2", "a-3"]


def test_all_else_stays_as_it_is() -> None:
    text = assert_same(
        '{ "webui":{"x": [1,\n2]},\n"loadouts" :{"L":{ "entry":"a","sockets":'
        '{"a":{"type":"agent", "materia"\n'
        ':"M"}}}}, "materia": {"M": {"prompt":"\\u0078" , "generates" :null}  }\n\n}'
    )
    assert text == (
        '{\n"loadouts" :{"L":{ "entry":"a","sockets":{"a":{"materia"\n'
        ':"M"}}}}, "materia": {"M": {"prompt":"\\u0078"}  }\n\n}'
    )


def test_a_loadout_moves_with_its_layout() -> None:
    text = assert_same(
        '{\n  "pipeline": {\n    "entry": "a",\n    "sockets": { "a": { "materia": "Agent" } }\n  },\n'
        '  "activeLoadout": "pipeline",\n  "loadouts": {},\n  "materia": { "Agent": { "prompt": "x" } }\n}\n'
    )
    assert text == (
        '{\n  "activeLoadout": "pipeline",\n  "loadouts": { "pipeline": {\n    "entry": "a",\n'
        '    "sockets": { "a": { "materia": "Agent" } }\n  } },\n'
        '  "materia": { "Agent": { "prompt": "x" } }\n}\n'
    )


def test_where_an_empty_list_would_go_another_way_it_is_unsafe() -> None:
    data = with_exit({"from": "check", "to": "end"})
    data["loadouts"]["L"]["loops"]["work"]["iterator"] = {"items": "state.workItems", "done": "tell"}
    source = source_of(data)
    assert early(source, fixed(source).text)
    assert not early(source, fixed(source, unsafe=True).text)


def test_a_socket_whose_role_is_unknown_stays() -> None:
    source = source_of(loadout({"a": {"role": "Nobody"}}))
    assert fixed(source, unsafe=True).text == source.text


def test_a_form_is_fixed_alone() -> None:
    """A fix takes no other finding along."""
    source = source_of({"webui": 1, "central": 2, **loadout({"a": socket(type="agent")})})
    messages = {part.finding.message for part in looked(source, source.text)}
    assert len(messages) == 3
    for message in messages:
        only = mend(source, partial(_fixing_one, source, message), unsafe=False)
        assert {part.finding.message for part in looked(source, only.text)} == messages - {message}


def _fixing_one(source: Source, message: str, text: str) -> list[Located]:
    """What is found, with the fixes of one message alone."""
    return [
        part._replace(finding=part.finding._replace(fix=part.finding.fix if found == message else None))
        for part in looked(source, text)
        for found in [part.finding.message]
    ]


def test_titles_are_plain() -> None:
    source = source_of({"pipeline": PIPELINE, "roles": {"A": {"systemPrompt": "x"}}, "webui": 1})
    titles = {part.finding.fix.title for part in early(source, source.text) if part.finding.fix}
    assert titles == {"write it as a loadout", "write the roles as materia", "remove 'webui'"}
    assert all(re.fullmatch(r"[a-z].*[^.]", title) for title in titles)
