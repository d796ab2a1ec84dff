"""Where in a file secrets are found, and that no report shows one."""

from __future__ import annotations

import copy
import json
import time
from pathlib import Path
from typing import Any

import pytest
from samples import loadout, socket

from materiac import pipeline, report
from materiac.cli import lsp_check
from materiac.lsp.looks import Job
from materiac.report import as_json, github, sarif, text
from materiac.rules import secret_literal
from materiac.source import KEY

Json = dict[str, Any]

SECRET = "w5Kd9RvB3nJf"  # noqa: S105 (made up)
OTHER = "r8ZkW3pQ0mVs"
PROMPT = f'Say {{"a": 1}}. Log in with token="{SECRET}" and {{"apiKey": "{OTHER}"}}. Set `satisfied` to true.'
TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"  # noqa: S105 (made up)


def file(**materia: Any) -> Json:
    return loadout(
        {"go": {"materia": "Tool"}}, materia={"Tool": {"command": ["go"], "timeoutMs": 5, **materia}}
    )


def found(config: Json) -> list[tuple[Any, ...]]:
    parts = pipeline.check([pipeline.Text("loadout.json", json.dumps(config).encode())])
    return [tuple(part.finding.at) for part in parts if part.finding.rule == secret_literal.RULE.name]


IN_TOOL = {
    "an argument": ({"command": ["go", TOKEN]}, ("command", 1)),
    "an option": ({"command": ["go", f"--password={SECRET}"]}, ("command", 1)),
    "the argument of an option": ({"command": ["go", "--api-key", SECRET]}, ("command", 2)),
    "a line for a shell": ({"command": ["sh", "-c", f"API_KEY={SECRET} go"]}, ("command", 2)),
    "a parameter": ({"params": {"a": [{"apiKey": SECRET}]}}, ("params", "a", 0, "apiKey")),
    "a list below a name": ({"params": {"secrets": ["a", SECRET]}}, ("params", "secrets", 1)),
    "an object below a name": ({"params": {"password": {"y": [SECRET]}}}, ("params", "password", "y", 0)),
    "a user": ({"command": ["curl", "-u", f"bob:{SECRET}"]}, ("command", 2)),
    "a key": ({"params": {"b": {TOKEN: 1}}}, ("params", "b", TOKEN, KEY)),
    "a text in a parameter": ({"params": {"b": {"c": f"the key is {TOKEN}"}}}, ("params", "b", "c")),
}


@pytest.mark.parametrize(("fields", "at"), IN_TOOL.values(), ids=IN_TOOL)
def test_in_a_utility(fields: Json, at: tuple[Any, ...]) -> None:
    assert found(file(**fields)) == [("materia", "Tool", *at)]


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("materia", "Agent", "prompt"), f"Use {TOKEN} to log in."),
        (("agents", "default"), f"command:go --token={SECRET}"),
        (("loadouts", "L", "description"), f"runs with {TOKEN}"),
        (("loadouts", "L", "sockets", "go", "x-materiac"), {"note": TOKEN}),
        (("eventing", "sinks", "s"), {"url": f"https://bob:{SECRET}@hooks.acme.dev/"}),
    ],
    ids=lambda part: part[0] if isinstance(part, tuple) else "",
)
def test_elsewhere(way: tuple[str, ...], value: Any) -> None:
    config = copy.deepcopy(loadout({"go": socket()}))
    at = config
    for key in way[:-1]:
        at = at.setdefault(key, {})
    at[way[-1]] = value
    if isinstance(value, dict):
        way = (*way, *value)
    assert found(config) == [way]


@pytest.mark.parametrize(
    "fields",
    [
        {"command": ["go", "--api-key", "$API_KEY"]},
        {"command": ["go", "--token-file", SECRET]},
        {"command": ["vault", "read", "--field=password", "kv/data/team1/app2"]},
        {"command": ["vault", "read", "--field=password", SECRET]},
        {"command": ["go", "--max-tokens", "128000k2x9"]},
        {"command": ["docker", "run", "-u", "1000:1000"]},
        {"params": {"maxTokens": "128000k2x9"}},
        {"params": {"secrets": [{"name": "db-pass1x2", "env": "DB_PASS_1A2B"}]}},
        {"params": {"env": ["GITHUB_TOKEN"]}},
        {"params": {"cacheKey": "node18x-deps-v3a"}},
        {"params": {"token": "{{state.token1a2b}}"}},
    ],
    ids=json.dumps,
)
def test_what_is_none(fields: Json) -> None:
    assert found(file(**fields)) == []


def test_nests_of_any_depth() -> None:
    deep: Any = TOKEN
    for _ in range(20_000):
        deep = [deep]
    finding = next(iter(secret_literal.check_file(_view({"materia": {"Tool": {"params": {"a": deep}}}}))))
    assert finding.at == ("materia", "Tool", "params", "a", *[0] * 20_000)


def _view(data: Json) -> Any:
    return type("View", (), {"data": data, "materia": {}})()


SPELLED = {
    "as it is": json.dumps(file(command=["go", "--token", SECRET], params={"apiKey": SECRET})),
    "a line each": json.dumps(file(command=["go", "--token", SECRET]), indent=2),
    "escaped": json.dumps(file(params={"apiKey": SECRET})).replace(SECRET, f"\\u0077{SECRET[1:]}"),
    "with other faults": json.dumps(file(command=["go", TOKEN], oops=1, idempotent=TOKEN)),
    "in a text in quotes": json.dumps(loadout({"a": {"materia": "X"}}, materia={"X": {"prompt": PROMPT}})),
    "behind a name in the line above": json.dumps(
        file(params={"apiKey": SECRET, "password": OTHER}), separators=(", ", ":\n\n                ")
    ),
    "with odd characters": json.dumps(file(params={"password": f"{SECRET};{OTHER}"}, oops={"a": 1})),
    "in a list below a name": json.dumps(file(params={"secrets": ["a", SECRET, OTHER], "idempotent": 2})),
    "as a key": json.dumps(file(params={TOKEN: 1})),
    "quoted elsewhere": json.dumps(
        {**file(params={"secrets": [SECRET]}), "activeLoadout": SECRET, "artifacts": {SECRET: 1}}
    ),
    "in a text that cannot be read": '{"materia": {"Tool": {"command": ["go", "' + TOKEN + '"],, }}}',
    "in what is no loadout": json.dumps({"materia": {TOKEN: 1}}),
}


@pytest.mark.parametrize("raw", SPELLED.values(), ids=SPELLED)
def test_no_report_shows_it(raw: str) -> None:
    parts = report.ordered(pipeline.check([pipeline.Text("loadout.json", raw.encode())]))
    assert parts
    here = Path.cwd()
    for shown in (
        text.render(parts, colour=False),
        as_json.render(parts),
        sarif.render(parts, here),
        github.render(parts, here),
    ):
        assert SECRET[1:] not in shown
        assert OTHER not in shown
        assert TOKEN[4:] not in shown


def test_a_secret_that_is_suppressed_is_not_shown_either() -> None:
    materia = {"command": ["go", "--x"], "params": {"secrets": [SECRET]}, "x-materiac": KNOWN, "oops": 1}
    raw = json.dumps(loadout({"go": {"materia": "Tool"}}, materia={"Tool": materia})).encode()
    checked = pipeline.examine([pipeline.Text("loadout.json", raw)])
    assert [part.finding.rule for part in checked.suppressed] == [secret_literal.RULE.name]
    parts = report.ordered(checked.findings, checked.suppressed)
    assert parts
    assert SECRET not in text.render(parts, colour=False, suppressed=checked.suppressed)


KNOWN = {"ignore": [{"rule": "secret-literal", "reason": "of a test"}]}

COMMENTED = f"""# the key is {TOKEN}
loadout L {{
  entry go
  go: Tool  # Authorization: Bearer {SECRET}{SECRET}
}}
materia Tool {{ command ["go"]  timeout 5s }}
"""


def test_in_comments_of_the_language() -> None:
    checked = pipeline.examine([pipeline.Text("a.materia", COMMENTED.encode())])
    parts = report.ordered(checked.findings)
    assert [part.finding.message for part in parts] == [
        "a comment holds what looks like a GitHub token",
        "a comment holds what looks like a token",
    ]
    shown = text.render(parts, colour=False)
    assert TOKEN[4:] not in shown
    assert SECRET not in shown
    known = COMMENTED.replace("# the", "# materiac: ignore[secret-literal] for a test\n# the", 1)
    assert len(pipeline.check([pipeline.Text("a.materia", known.encode())])) <= 2


def test_many_secrets_take_little_time() -> None:
    secrets = [f"{SECRET}{i}q7" for i in range(1_000)]
    raw = json.dumps(file(params={"secrets": secrets}, oops=1), indent=1).encode()
    parts = report.ordered(pipeline.check([pipeline.Text("loadout.json", raw)]))
    assert len(parts) == 1_001
    began = time.perf_counter()
    assert SECRET not in text.render(parts, colour=False)
    assert time.perf_counter() - began < 3


def test_the_language_server_quotes_none(tmp_path: Path) -> None:
    raw = SPELLED["quoted elsewhere"].encode()
    found = lsp_check.look(Job("loadout.json", raw, "json", tmp_path, {})).found
    told = [
        words for part in found for words in (part.finding.message, part.help, *(w for _, w in part.related))
    ]
    assert "there is no loadout '************'" in told
    assert not [words for words in told if words and SECRET in words]
