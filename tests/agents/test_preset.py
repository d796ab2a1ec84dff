"""Programs that are called and read by a preset: a small real one, and what it prints."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from back_ends import OWNER, request
from processes import marked, wait_none

from materiac.agents import choose
from materiac.agents.preset import places
from materiac.agents.protocol import (
    Agent,
    AgentError,
    AnswerLimitError,
    Progress,
    Reply,
    Request,
    ToolServer,
    Usage,
)

PROGRAM = Path(__file__).with_name("preset_agent.py")
SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
SERVER = ToolServer("desk", "submit", ("python3", "-m", "server"), {"FOLDER": 'a "b"'})
LINES = 'format = "lines"\ntext = { where = { type = "end" }, at = "text" }\n'


@dataclass
class Helper:
    """A preset for the small program, and what that prints."""

    folder: Path
    monkeypatch: pytest.MonkeyPatch
    sessions: Path = field(init=False)

    def __post_init__(self) -> None:
        self.cwd, self.sessions = self.folder / "work", self.folder / "sessions"
        self.cwd.mkdir()

    def agent(self, text: str, options: str = "") -> Agent:
        head = f'program = "{sys.executable}"\n'
        if "argv" not in text:
            head += f'argv = ["{PROGRAM}"]\n'
        (self.folder / "helper.toml").write_text(head + text, encoding="utf-8")
        return choose.make(f"preset{options}:{self.folder / 'helper.toml'}")

    def prints(self, *parts: Any, exit_code: int = 0, last_words: str = "") -> None:
        """What it will print: texts and bytes as they are, other values as lines of JSON."""
        raw = (part if isinstance(part, str | bytes) else json.dumps(part) + "\n" for part in parts)
        output = b"".join(part if isinstance(part, bytes) else part.encode() for part in raw)
        (self.folder / "printed").write_bytes(output)
        self.monkeypatch.setenv("PRINT", str(self.folder / "printed"))
        self.monkeypatch.setenv("EXIT", str(exit_code))
        self.monkeypatch.setenv("LAST_WORDS", last_words)

    def request(self, scope: str = "none", **fields: Any) -> Request:
        return request(self.cwd, scope, **{"sessions": self.sessions, **fields})

    def called(self, agent: Agent, asked: Request) -> dict[str, Any]:
        """How it is called in a turn."""
        agent.turn(asked)
        called: dict[str, Any] = json.loads((self.cwd / "called.json").read_text())
        return called

    def arguments(self, argv: str, asked: Request, text: str = "", options: str = "") -> list[str]:
        """The arguments that it gets for the groups of `argv`."""
        agent = self.agent(f'argv = ["{PROGRAM}", {argv}]\n{text}', options)
        arguments: list[str] = self.called(agent, asked)["arguments"]
        return arguments


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Helper:
    return Helper(tmp_path, monkeypatch)


# How it is called


@pytest.mark.parametrize(
    ("argv", "fields", "arguments"),
    [
        pytest.param('["-m", "{model}"], "x"', {"model": "m-1"}, ["-m", "m-1", "x"], id="there"),
        pytest.param('["-m", "{model}"], "x"', {}, ["x"], id="not there"),
        pytest.param('"{model}"', {}, [], id="alone"),
        pytest.param(
            '"a={model:json}", "b={model:toml}"', {"model": 'a"b'}, ['a="a\\"b"', 'b="a\\"b"'], id="form"
        ),
        pytest.param('"--tools={tools}"', {"tools": ("read", "own")}, ["--tools=Read,View,own"], id="tools"),
        pytest.param('["--tools", "{tools}"]', {}, ["--tools", ""], id="no tools"),
        pytest.param('"{tools:json}"', {"tools": ("read", "cat")}, ['["Read","View"]'], id="the same tool"),
        pytest.param(
            '"{session}", "{thinking}"', {"session": "s", "thinking": "t"}, ["s", "t"], id="session"
        ),
        pytest.param('"{socket} {materia} {cwd}"', {"cwd": "{}"}, ["build Build {}"], id="where"),
        pytest.param(
            '"{schema}"', {"schema": SCHEMA, "handoff": "text"}, [], id="a schema that is not forced"
        ),
        pytest.param(
            '"{server}"', {"tool_server": SERVER, "handoff": "text"}, [], id="a server that is not used"
        ),
        pytest.param(
            '"{server} {server_tool} {server_command} {server_args} {server_argv:json} {server_env:toml}"',
            {"tool_server": SERVER, "handoff": "tool"},
            ['desk submit python3 -m,server ["python3","-m","server"] {"FOLDER" = "a \\"b\\""}'],
            id="server",
        ),
        pytest.param('"{tools}{not a placeholder}{}"', {}, ["{not a placeholder}{}"], id="other braces"),
        pytest.param('"{model}"', {"model": "{session}", "session": "s"}, ["{session}"], id="filled once"),
    ],
)
def test_what_is_put_in(helper: Helper, argv: str, fields: dict[str, Any], arguments: list[str]) -> None:
    fields = {name: value for name, value in fields.items() if name != "cwd"}
    tools = '[tools]\nread = ["Read", "View"]\ncat = ["View"]'
    found = helper.arguments(argv, helper.request(**fields), tools)
    assert found == [
        argument.replace("{}", str(helper.cwd)) if "Build" in argument else argument for argument in arguments
    ]


def test_a_schema_is_put_in_or_a_file(helper: Helper) -> None:
    asked = helper.request(schema=SCHEMA, handoff="schema")
    agent = helper.agent(f'argv = ["{PROGRAM}", "{{schema}}", "{{schema.json}}"]')
    called = helper.called(agent, asked)
    assert json.loads(called["arguments"][0]) == SCHEMA
    (file,) = called["files"]
    assert json.loads(called["files"][file]) == SCHEMA
    assert not Path(file).exists(), "it is there for the turn alone"


def test_a_model_of_the_spec_is_that_of_materia_without_one(helper: Helper) -> None:
    argv, options = '"{model}", "{thinking}"', "?model=qwen3%3A8b&thinking=low"
    assert helper.arguments(argv, helper.request(), options=options) == ["qwen3:8b", "low"]
    assert helper.arguments(argv, helper.request(model="m"), options=options) == ["m", "low"]


def test_a_session_may_be_gone_on_with_in_other_words(helper: Helper) -> None:
    resume = f'resume = ["{PROGRAM}", "again", "{{session}}"]'
    assert helper.arguments('"first"', helper.request(), resume) == ["first"]
    assert helper.arguments('"first"', helper.request(session="s-1"), resume) == ["again", "s-1"]


@pytest.mark.parametrize(
    ("scope", "tools", "argument"),
    [
        ("none", (), "--nothing"),
        ("readOnly", ("read", "ls"), "--look"),
        ("coding", ("read", "bash"), "--all"),
        ("custom", (), "--nothing"),
        ("custom", ("grep",), "--look"),
        ("custom", ("read", "write"), "--all"),
        ("custom", ("WebSearch",), "--look"),
    ],
)
def test_the_arguments_of_a_scope(helper: Helper, scope: str, tools: tuple[str, ...], argument: str) -> None:
    scopes = '[scopes]\nnone = ["--nothing"]\nreadOnly = [["--look", "{tools}"]]\ncoding = ["--all"]'
    asked = helper.request(tools=tools)
    object.__setattr__(asked, "scope", scope)
    expected = [argument, ",".join(tools)] if argument == "--look" else [argument]
    assert helper.arguments('"a", "{scope}", "b"', asked, scopes) == ["a", *expected, "b"]


CONFIG = """
[env]
PLAIN = "for {model}"
ABSENT = "{session}"
[env.CONFIG]
open = true
ask = ["{model}", "{session}", 1]
"{tools}" = "allow"
"mcp_{server}" = { env = "{server_env}" }
[files]
"notes.txt" = "{model}"
"absent.txt" = "{session}"
"config.json" = { servers = { "{server}" = { command = "{server_argv}" } }, model = "a {model}" }
"""


def test_variables_and_files(helper: Helper) -> None:
    argv = f'argv = ["{PROGRAM}", "{{notes.txt}}", "{{config.json}}", "{{absent.txt}}"]'
    asked = helper.request("readOnly", model="m-1", handoff="tool", tool_server=SERVER)
    called = helper.called(helper.agent(f"{argv}\n{CONFIG}"), asked)
    assert called["env"]["PLAIN"] == "for m-1"
    assert "ABSENT" not in called["env"]
    assert json.loads(called["env"]["CONFIG"]) == {
        "open": True,
        "ask": ["m-1", 1],
        "read": "allow",
        "grep": "allow",
        "find": "allow",
        "ls": "allow",
        "mcp_desk": {"env": {"FOLDER": 'a "b"'}},
    }
    notes, config = called["files"].values()
    assert notes == "m-1"
    assert json.loads(config) == {
        "servers": {"desk": {"command": ["python3", "-m", "server"]}},
        "model": "a m-1",
    }
    without = helper.called(helper.agent(f"{argv}\n{CONFIG}"), helper.request(model="m-1"))
    assert json.loads(without["env"]["CONFIG"]) == {"open": True, "ask": ["m-1", 1]}
    assert json.loads(list(without["files"].values())[1]) == {"servers": {}, "model": "a m-1"}


def test_the_prompt_goes_in_as_the_preset_says(helper: Helper) -> None:
    prompt = "-x {model} \u2028" + "y" * 300_000
    agent = helper.agent('prompt = "<{prompt}>"')
    assert helper.called(agent, helper.request(prompt=prompt))["stdin"] == f"<{prompt}>"
    assert helper.called(agent, helper.request(system="Be kind."))["stdin"] == "<Be kind.\n\ndo it>"


def test_system_text_goes_where_the_preset_says(helper: Helper) -> None:
    agent = helper.agent(f'argv = ["{PROGRAM}", ["-s", "{{system}}"], ["-f", "{{system.txt}}"]]')
    called = helper.called(agent, helper.request(system="Be kind."))
    assert called["arguments"][:2] == ["-s", "Be kind."]
    assert list(called["files"].values()) == ["Be kind."]
    assert called["stdin"] == "do it"
    assert helper.called(agent, helper.request())["arguments"] == []


def test_keys_are_for_the_program_and_named_to_be_hidden_from_its_tools(
    helper: Helper, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OWN_KEY", "MY_TOKEN", "OTHER_KEY", "LISTED_KEY"):
        monkeypatch.setenv(name, "sesame-sesame")
    text = f'argv = ["{PROGRAM}", "{{hidden:json}}"]\nkeys = ["OWN_KEY", "LISTED_KEY", "UNSET_KEY"]'
    called = helper.called(helper.agent(text, "?env=MY_TOKEN"), helper.request(env=("LISTED_KEY",)))
    assert {"OWN_KEY", "MY_TOKEN", "LISTED_KEY"} <= called["env"].keys()
    assert "OTHER_KEY" not in called["env"]
    assert json.loads(called["arguments"][0]) == ["OWN_KEY", "MY_TOKEN"]


def test_a_missing_key_is_told_with_how_to_hand_it_on(
    helper: Helper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTHER_KEY", "sesame-sesame")
    helper.prints(exit_code=1, last_words="no API key")
    with pytest.raises(AgentError, match=r"OTHER_KEY.*or as 'preset\?env=NAME:…'"):
        helper.agent("").turn(helper.request())


# What it prints


def test_a_plain_answer(helper: Helper) -> None:
    helper.prints("a\u2028b\n")
    assert helper.agent("").turn(helper.request()) == Reply("a\u2028b\n")


def test_lines_are_read_as_they_come(helper: Helper) -> None:
    first, last = {"type": "note", "text": "no"}, {"type": "end", "text": "a\u2028b"}
    helper.prints("words\n\n[1]\n", first, b"\xff\n", json.dumps(last, ensure_ascii=False))
    reply = helper.agent(f"[output]\n{LINES}").turn(helper.request())
    assert (reply.text, reply.events) == ("a\u2028b", (first, last))


def test_a_line_may_be_long(helper: Helper) -> None:
    text = "x" * 3_000_000
    helper.prints({"type": "end", "text": text})
    reply = helper.agent(f"[output]\n{LINES}").turn(helper.request())
    assert (reply.text, reply.events) == (text, ())
    with pytest.raises(AnswerLimitError, match="answered with 3000000 bytes, 1000 are allowed"):
        helper.agent(f"[output]\n{LINES}").turn(helper.request(max_bytes=1000))


EVENTS = [
    {"type": "begin", "id": "s-1"},
    {"type": "say", "text": "I ", "n": 1},
    {"type": "say", "text": "look.", "n": 2.5},
    {"type": "tool", "ok": True},
    {
        "type": "say",
        "text": "It is ",
        "n": 4,
        "deep": {"parts": [{"kind": "t", "v": "x"}, {"kind": "u", "v": "y"}]},
    },
    {"type": "say", "text": "so.", "n": 8, "text2": None},
]


@pytest.mark.parametrize(
    ("pick", "text"),
    [
        ('"text"', "so."),
        ('{ at = "text", take = "join" }', "I look.It is so."),
        ('{ at = "text", take = "join", reset = { type = "tool" } }', "It is so."),
        ('{ at = ["text2", "id"] }', "s-1"),
        ('["text2", "id", "text"]', "s-1"),
        ('{ at = "type", where = { ok = true } }', "tool"),
        ('{ at = "type", where = { ok = 1 } }', None),
        ('{ at = "text", where = { type = ["begin", "say"], n = 2.5 } }', "look."),
        ('"deep.parts.*.v"', "xy"),
        ('"deep.parts.[kind=u].v"', "y"),
        ('"deep.parts.0.v"', "x"),
        ('"deep.parts.7.v"', None),
        ('{ at = "text", where = { type = "none" } }', None),
    ],
)
def test_where_the_text_is(helper: Helper, pick: str, text: str | None) -> None:
    helper.prints(*EVENTS)
    for form in ("lines", "json"):
        agent = helper.agent(f'[output]\nformat = "{form}"\ntext = {pick}')
        if text is None:
            with pytest.raises(AgentError, match="gave no text at "):
                agent.turn(helper.request())
        else:
            assert agent.turn(helper.request()).text == text


def test_numbers_may_be_those_of_several_objects(helper: Helper) -> None:
    helper.prints(*EVENTS)
    usage = '[usage]\ninput = { at = "n", take = "sum" }\noutput = "n"\ncost = { at = "n", take = "sum" }'
    reply = helper.agent(f'[output]\nformat = "lines"\ntext = "text"\n{usage}').turn(helper.request())
    assert reply.usage == Usage(15, 8, cost=15.5)


def test_input_may_be_counted_with_the_cache(helper: Helper) -> None:
    helper.prints({"t": "a", "in": 100, "out": 5, "read": 30, "write": 20})
    text = '[output]\nformat = "json"\ntext = "t"\n[usage]\ninput = "in"\noutput = "out"\ncacheRead = "read"'
    agent = helper.agent(f'{text}\ncacheWrite = "write"\ninputHasCache = true')
    assert agent.turn(helper.request()).usage == Usage(50, 5, 30, 20)


def test_an_answer_may_be_empty_where_the_turn_has_ended(helper: Helper) -> None:
    agent = helper.agent(f'[output]\n{LINES}ended = {{ where = {{ type = "ended" }} }}')
    helper.prints({"type": "ended"})
    assert agent.turn(helper.request()).text == ""
    helper.prints({"type": "begun"})
    with pytest.raises(AgentError, match="gave no text at 'text'"):
        agent.turn(helper.request())


def test_an_answer_may_be_cut_off(helper: Helper) -> None:
    helper.prints({"type": "end", "text": "half", "why": "limit"})
    agent = helper.agent(f'[output]\n{LINES}length = {{ where = {{ why = "limit" }} }}')
    assert (reply := agent.turn(helper.request())).stop == "length"
    assert (reply.text, reply.error) == ("half", None)
    helper.prints({"type": "end", "text": "half", "error": "Reached the Limit of length"})
    agent = helper.agent(f'[output]\n{LINES}error = "error"\n[faults]\nlength = ["limit of length"]')
    assert (reply := agent.turn(helper.request())).stop == "length"
    assert (reply.text, reply.error) == ("half", None)


@pytest.mark.parametrize(
    ("error", "fault", "wait_s"),
    [
        ("HTTP 429: try again in 2.5 s", "rate", 2.5),
        ("HTTP 503", "transport", None),
        ("the prompt is too long, HTTP 503", "context", None),
        ("the tool ran out of time", "tool", None),
        ("no such model", "provider", None),
    ],
)
@pytest.mark.parametrize("by", ["an event", "its last words"])
def test_what_an_error_means(helper: Helper, error: str, fault: str, wait_s: float | None, by: str) -> None:
    faults = (
        '[faults]\nrate = ["429"]\ntransport = ["50[0-9]"]\ncontext = ["too LONG"]\ntool = ["out of time"]\n'
    )
    agent = helper.agent(f'[output]\n{LINES}error = "error"\n{faults}retryAfter = ["in ([0-9.]+) s"]')
    if by == "an event":
        helper.prints({"error": error}, exit_code=1)
    else:
        helper.prints(exit_code=1, last_words=error)
        if fault == "provider":
            with pytest.raises(AgentError, match="ended with exit code 1: no such model"):
                agent.turn(helper.request())
            return
    reply = agent.turn(helper.request())
    assert (reply.stop, reply.fault, reply.retry_after_s) == ("error", fault, wait_s)
    assert reply.error is not None
    assert reply.error.endswith(error)


def test_an_error_that_was_got_over_is_none(helper: Helper) -> None:
    text = f'[output]\n{LINES}error = {{ at = "error", reset = {{ type = "retry" }} }}'
    helper.prints({"error": "cut"}, {"type": "retry"}, {"type": "end", "text": "fine"})
    assert helper.agent(text).turn(helper.request()).text == "fine"


@pytest.mark.parametrize(
    ("printed", "data"),
    [
        ({"type": "end", "text": "words", "object": {"ok": True}}, {"ok": True}),
        ({"type": "end", "text": '{"ok": "grün"}'}, {"ok": "grün"}),
        ({"type": "end", "text": "words"}, None),
        ({"type": "end", "text": "[1]"}, None),
    ],
    ids=["at its place", "as the text", "none", "another value"],
)
def test_an_object_that_was_forced(
    helper: Helper, printed: dict[str, Any], data: dict[str, Any] | None
) -> None:
    argv = f'argv = ["{PROGRAM}", ["{{schema}}"]]'
    agent = helper.agent(f'{argv}\n[output]\n{LINES}data = "object"')
    helper.prints(printed)
    reply = agent.turn(helper.request(schema=SCHEMA, handoff="schema"))
    assert reply.data == data
    assert reply.text == (
        printed["text"] if data is None else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    )
    assert agent.turn(helper.request()).data is None


def test_news_of_a_turn(helper: Helper) -> None:
    news = """
    [[progress]]
    kind = "text"
    where = { type = "say" }
    at = "parts.[kind=t].v"
    [[progress]]
    kind = "tool"
    at = "calls.*"
    show = ["name", "input"]
    """
    heard: list[Progress] = []
    helper.prints(
        {"type": "say", "parts": [{"kind": "t", "v": "one"}, {"kind": "u", "v": "two"}]},
        {"type": "do", "calls": [{"name": "ls", "input": {"p": "ä"}}, {"name": "x" * 500}]},
        {"type": "end", "text": "fine"},
    )
    helper.agent(f"[output]\n{LINES}{news}").turn(helper.request(progress=heard.append))
    assert heard == [Progress("text", "one"), Progress("tool", 'ls {"p": "ä"}'), Progress("tool", "x" * 200)]


def test_who_fails_to_hear_ends_the_turn(helper: Helper) -> None:
    def fail(_: Progress) -> None:
        raise LookupError("deaf")

    helper.prints(*[{"type": "say", "text": "x"}] * 3)
    text = f'[output]\n{LINES}[[progress]]\nkind = "text"\nat = "text"'
    with pytest.raises(LookupError, match="deaf"):
        helper.agent(text).turn(helper.request(progress=fail))
    wait_none(f":{OWNER}.")


# What a session has used

TOTALS = f"""
[output]
{LINES}session = "id"
[usage]
input = "in"
cost = "usd"
totals = ["tokens", "cost"]
"""


def _used(helper: Helper, agent: Agent, tokens: int, cost: float, **fields: Any) -> Usage | None:
    helper.prints({"type": "end", "text": "a", "id": "s/../1", "in": tokens, "usd": cost})
    return agent.turn(helper.request(**fields)).usage


@pytest.mark.parametrize("anew", [False, True], ids=["the same instance", "another process"])
def test_totals_of_a_session_count_as_what_is_more_than_before(helper: Helper, anew: bool) -> None:
    agent = helper.agent(TOTALS)
    assert _used(helper, agent, 100, 0.5) == Usage(100, cost=0.5)
    agent = helper.agent(TOTALS) if anew else agent
    assert _used(helper, agent, 130, 0.75, session="s/../1") == Usage(30, cost=0.25)
    assert _used(helper, agent, 130, 0.75, session="s/../1") == Usage()
    assert _used(helper, agent, 40, 0.25) == Usage(40, cost=0.25), "a new talk"
    assert [file.suffix for file in helper.sessions.iterdir()] == [".json"]


def test_what_a_session_had_used_before_may_be_unknown(helper: Helper) -> None:
    agent = helper.agent(TOTALS)
    assert _used(helper, agent, 100, 0.5, session="s-9", sessions=None) is None
    assert _used(helper, agent, 130, 0.75, session="s/../1", sessions=None) == Usage(30, cost=0.25)
    helper.sessions.mkdir()
    only_cost = helper.agent(TOTALS.replace('"tokens", ', ""))
    assert _used(helper, only_cost, 130, 0.75, session="s-9") == Usage(130)
    for file in helper.sessions.iterdir():
        file.write_text("[")
    assert _used(helper, helper.agent(TOTALS), 130, 0.75, session="s/../1") is None


# How it ends


def test_nothing_is_asked_of_an_agent_that_was_closed(helper: Helper) -> None:
    agent = helper.agent("")
    agent.close()
    with pytest.raises(AgentError, match="was stopped before it answered"):
        agent.turn(helper.request())
    assert not marked(f":{OWNER}.")


@pytest.mark.parametrize("text", ["", "a..b", ".a", "a.", "a[b=c]", "[b]", "a.[b=c"])
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(ValueError, match="is no path"):
        places.parse(text)


def test_an_error_in_the_place_of_a_cut_answer_is_no_answer(helper: Helper) -> None:
    error = "Reached the limit of length, raise it"
    agent = helper.agent(f'[output]\n{LINES}error = "error"\n[faults]\nlength = ["limit of length"]')
    for text in (error, "", " "):
        helper.prints({"type": "end", "text": text, "error": error})
        reply = agent.turn(helper.request())
        assert (reply.stop, reply.error, reply.fault) == ("error", error, "provider")
