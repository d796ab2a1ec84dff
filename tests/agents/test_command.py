"""Programs as agents: real ones."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from materiac.agents import command
from materiac.agents.preset.agent import Program
from materiac.agents.protocol import AgentError, AnswerLimitError, Reply, Request, Usage
from materiac.environment import looks_secret


def _python(code: str, options: str = "") -> Program:
    return command.make(f"command{options}:{json.dumps([sys.executable, '-c', code])}")


def _prints(text: str, options: str) -> Program:
    return _python(f"print({text!r})", options)


def _request(cwd: Path, **fields: Any) -> Request:
    given = {"prompt": "do it", "socket": "build", "materia": "Build", "visit": 2, "turn": 1, **fields}
    return Request(cwd=cwd, **given)


@pytest.mark.parametrize(
    "spec", ["command:cat -", "command: cat '-'", 'command:["cat", "-"]', 'command: ["cat", "-"]']
)
def test_the_prompt_goes_in_and_the_answer_comes_out(tmp_path: Path, spec: str) -> None:
    prompt = "grün\n" + "x" * 300_000 + "\n"
    assert command.make(spec).turn(_request(tmp_path, prompt=prompt)) == Reply(prompt)


def test_no_shell_runs(tmp_path: Path) -> None:
    assert command.make("command:echo $HOME ; ls").turn(_request(tmp_path)).text == "$HOME ; ls\n"


def test_a_program_may_leave_its_prompt_unread(tmp_path: Path) -> None:
    assert command.make("command:echo done").turn(_request(tmp_path, prompt="x" * 300_000)).text == "done\n"


SHOW = """
import json, os
print(json.dumps({name: os.environ[name] for name in os.environ if name.startswith(("MATERIAC_", "PWD"))}))
"""


def test_what_the_program_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MATERIAC_SESSION", "of somebody else")
    plain = json.loads(_python(SHOW).turn(_request(tmp_path)).text)
    plain.pop("MATERIAC_COMMAND", None)
    assert plain == {
        "PWD": str(tmp_path),
        "MATERIAC_SOCKET": "build",
        "MATERIAC_MATERIA": "Build",
        "MATERIAC_VISIT": "2",
        "MATERIAC_TURN": "1",
        "MATERIAC_SCOPE": "none",
        "MATERIAC_TOOLS": "",
    }
    more = {"item_key": "WI-3", "scope": "custom", "tools": ("read", "ls"), "model": "m", "thinking": "high"}
    told = json.loads(_python(SHOW).turn(_request(tmp_path, session="s-1", **more)).text)
    assert (
        told
        | {
            "MATERIAC_ITEM": "WI-3",
            "MATERIAC_SCOPE": "custom",
            "MATERIAC_TOOLS": "read,ls",
            "MATERIAC_MODEL": "m",
            "MATERIAC_THINKING": "high",
            "MATERIAC_SESSION": "s-1",
        }
        == told
    )


def test_its_processes_are_marked_as_those_of_the_cast(tmp_path: Path) -> None:
    show = _python("import os; print(os.environ['MATERIAC_COMMAND'], end='')")
    mark = show.turn(_request(tmp_path, owner="20310504-1020")).text
    assert re.search(r":20310504-1020\.[0-9a-f]{16}$", mark)


SEEN = "import os; print(*[os.environ.get(name) for name in ('A_KEY', 'B_TOKEN', 'PLAIN')])"


@pytest.mark.parametrize(
    ("options", "env", "seen"),
    [
        pytest.param("", (), "None None plain", id="none"),
        pytest.param("", ("A_KEY",), "sesame-a None plain", id="of the materia"),
        pytest.param("?env=B_TOKEN", (), "None sesame-b plain", id="of the spec"),
        pytest.param("?env=A_KEY,B_TOKEN", (), "sesame-a sesame-b plain", id="several"),
        pytest.param("?env=B_TOKEN", ("A_KEY", "NOT_SET_KEY"), "sesame-a sesame-b plain", id="both"),
    ],
)
def test_secrets_are_handed_on_by_name_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, env: tuple[str, ...], seen: str
) -> None:
    for name, value in (("A_KEY", "sesame-a"), ("B_TOKEN", "sesame-b"), ("PLAIN", "plain")):
        monkeypatch.setenv(name, value)
    assert _python(SEEN, options).turn(_request(tmp_path, env=env)).text == f"{seen}\n"


def _only_secrets(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    for name in filter(looks_secret, list(os.environ)):
        monkeypatch.delenv(name)
    for name in names:
        monkeypatch.setenv(name, "sesame-sesame")


HELP = "\nhelp: it does not see {}, which look like secrets: list what it needs in 'env' of materia 'Build'"


@pytest.mark.parametrize(
    "words",
    [
        "KeyError: 'A_KEY'",
        "no API key was found",
        "HTTP 401",
        "You are not logged in: please log in",
        "Unauthorized",
    ],
)
def test_a_program_that_lacks_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    _only_secrets(monkeypatch, "A_KEY", "B_TOKEN", "C_KEY")
    with pytest.raises(AgentError) as caught:
        _python(f"import sys; sys.exit({words!r})").turn(_request(tmp_path, env=("C_KEY",)))
    message = str(caught.value)
    assert f"{words}{HELP.format('A_KEY, B_TOKEN')}" in message
    assert "sesame" not in message
    output = json.dumps({"text": "", "error": words})
    reply = _prints(output, "?text=text&error=error&env=A_KEY,B_TOKEN").turn(_request(tmp_path))
    assert reply.error == f"{words}{HELP.format('C_KEY')}, or as 'command?env=NAME:…'"


@pytest.mark.parametrize(
    ("words", "names"),
    [
        pytest.param("out of luck", ["A_KEY"], id="something else"),
        pytest.param("the monkeys are out, 4010 of them", ["A_KEY"], id="only like it"),
        pytest.param("no API key", [], id="nothing withheld"),
    ],
)
def test_other_failures_get_no_such_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, names: list[str]
) -> None:
    _only_secrets(monkeypatch, *names)
    with pytest.raises(AgentError) as caught:
        _python(f"import sys; sys.exit({words!r})").turn(_request(tmp_path))
    assert str(caught.value).endswith(words)


def test_of_many_variables_some_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _only_secrets(monkeypatch, *(f"KEY_{n}" for n in range(10)))
    with pytest.raises(AgentError, match=r"does not see KEY_0, KEY_1, .*, KEY_7 and 2 more, which"):
        _python("import sys; sys.exit('no API key')").turn(_request(tmp_path))


@pytest.mark.parametrize(
    ("code", "options"),
    [
        pytest.param("import sys; sys.exit(key + 'x' * 385)", "", id="last words"),
        pytest.param("print('x' * 390 + key)", "?text=text", id="no text"),
        pytest.param("print(json.dumps({'text': ['x' * 390 + key]}))", "?text=text", id="no string"),
    ],
)
def test_no_excerpt_has_half_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, options: str
) -> None:
    _only_secrets(monkeypatch, "A_KEY")
    begin = f"import json, os; key = os.environ['A_KEY']; {code}"
    with pytest.raises(AgentError) as caught:
        _python(begin, options).turn(_request(tmp_path, env=("A_KEY",)))
    assert "ses" not in str(caught.value)
    assert "ame" not in str(caught.value)


OBJECT = {
    "result": [{"text": "fine"}],
    "usage": {"in": 10, "out": 2.0, "read": 3, "write": 4},
    "cost": 0.25,
    "id": "s-1",
    "by": {"model": "m-1", "who": "p-1"},
    "failed": False,
}
ALL = (
    "?text=result.0.text&usage.input=usage.in&usage.output=usage.out&usage.cacheRead=usage.read"
    "&usage.cacheWrite=usage.write&usage.cost=cost&session=id&model=by.model&provider=by.who&error=failed"
)


def test_every_option(tmp_path: Path) -> None:
    reply = _prints(json.dumps(OBJECT, indent=1), ALL).turn(_request(tmp_path))
    assert reply == Reply("fine", Usage(10, 2, 3, 4, 0.25), "s-1", model="m-1", provider="p-1")


@pytest.mark.parametrize(
    "output",
    [
        pytest.param('{"text": "b"}', id="one object"),
        pytest.param('{"text": "a"}\n\n{"text": "b"}\n\n', id="lines"),
        pytest.param('{"text": "a"}\n{"text": "b"}\n{"tokens": 3}', id="lines of several kinds"),
        pytest.param('starting …\n{"text": "b"}\n[1]\n"bye"\n{ not json', id="lines that are no objects"),
        pytest.param('[{"text": "a"}, {"text": "b"}, 7]', id="a list"),
        pytest.param('{"text": "b"}\n{"text": null}', id="null is no value"),
    ],
)
def test_the_last_object_with_a_value_counts(tmp_path: Path, output: str) -> None:
    assert _prints(output, "?text=text").turn(_request(tmp_path)) == Reply("b")


def test_line_separators_do_not_end_a_line(tmp_path: Path) -> None:
    output = '{"text": "a\u2028b"}\n{}'.encode()
    agent = _python(f"import sys; sys.stdout.buffer.write({output!r})", "?text=text")
    assert agent.turn(_request(tmp_path)).text == "a\u2028b"


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ({"text": "no key", "error": True, "in": 3}, "no key"),
        ({"text": "half", "error": "overloaded", "in": 3}, "overloaded"),
        ({"error": {"code": 1}, "in": 3}, f"'{sys.executable}' reports an error"),
    ],
    ids=["a flag", "a text", "without a text"],
)
@pytest.mark.parametrize("code", [0, 1])
def test_a_provider_that_fails(tmp_path: Path, output: dict[str, Any], error: str, code: int) -> None:
    program = f"import sys; print({json.dumps(output)!r}); sys.exit({code})"
    reply = _python(program, "?text=text&error=error&usage.input=in").turn(_request(tmp_path))
    failed = Reply(output.get("text", ""), Usage(3), stop="error", error=error, fault="provider")
    assert reply == failed


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; print('no'); sys.exit('out of luck')", "ended with exit code 1: out of luck"),
        ("import sys; print('it said'); sys.exit(3)", "ended with exit code 3: it said"),
        ("raise SystemExit(4)", "ended with exit code 4"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by signal 9 (Killed)"),
        ("import sys; sys.stdout.buffer.write(b'ab\\xff')", "is no UTF-8: byte 2 of it"),
    ],
    ids=["with last words", "on the standard output", "silent", "signal", "no UTF-8"],
)
def test_programs_that_fail(tmp_path: Path, code: str, message: str) -> None:
    with pytest.raises(AgentError) as caught:
        _python(code).turn(_request(tmp_path))
    assert str(caught.value).endswith(message)


def test_the_end_of_what_went_wrong_is_shown(tmp_path: Path) -> None:
    with pytest.raises(AgentError) as caught:
        _python("import sys; sys.exit('x' * 9000 + ' the end')").turn(_request(tmp_path))
    assert str(caught.value).endswith(" the end")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("plain words", "gave no text at 'a.text': 'plain words'"),
        ("{}", "gave no text at 'a.text': '{}'"),
        ('{"a": {"text": 1}}', "gave 1 at 'a.text', expected a text"),
        ('{"a": {"text": "\\ud800"}}', "gave '\\ud800' at 'a.text', expected a text"),
        ('{"a": {"text": "x"}, "in": "7"}', "gave '7' at 'in', expected a number that is not negative"),
        ('{"a": {"text": "x"}, "in": -7}', "gave -7 at 'in', expected a number that is not negative"),
        ('{"a": {"text": "x"}, "in": true}', "gave True at 'in', expected a number that is not negative"),
        ('{"a": {"text": "x"}, "in": 1e999}', "gave inf at 'in', expected a number that is not negative"),
    ],
)
def test_outputs_that_do_not_fit_the_options(tmp_path: Path, output: str, message: str) -> None:
    with pytest.raises(AgentError) as caught:
        _prints(output, "?text=a.text&usage.input=in").turn(_request(tmp_path))
    assert str(caught.value) == f"'{sys.executable}' {message}"


def test_an_answer_without_measure(tmp_path: Path) -> None:
    with pytest.raises(AnswerLimitError, match="answered with 1001 bytes, 1000 are allowed"):
        _prints("x" * 1000, "").turn(_request(tmp_path, max_bytes=1000))
    assert len(_prints("x" * 999, "").turn(_request(tmp_path, max_bytes=1000)).text) == 1000


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match="'no-such-agent' is not on the PATH"):
        command.make("command:no-such-agent").turn(_request(tmp_path))


TREE = """
import subprocess, sys, time
from pathlib import Path
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
Path("child").write_text(str(child.pid))
time.sleep(600)
"""


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_the_whole_tree_ends_with_the_time(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"gave no answer in 1\.5 s and was ended"):
        _python(TREE).turn(_request(tmp_path, timeout_s=1.5))
    assert not _alive(int((tmp_path / "child").read_text()))


def test_the_whole_tree_ends_when_the_agent_is_closed(tmp_path: Path) -> None:
    agent = _python(TREE)
    closing = threading.Thread(target=_close_when_there, args=(agent, tmp_path / "child"))
    closing.start()
    with pytest.raises(AgentError, match="was stopped before it answered"):
        agent.turn(_request(tmp_path))
    closing.join()
    assert not _alive(int((tmp_path / "child").read_text()))


def _close_when_there(agent: Program, file: Path) -> None:
    until = time.monotonic() + 20
    while time.monotonic() < until and not (file.exists() and file.read_text()):
        time.sleep(0.01)
    agent.close()
    agent.close()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("command", "'command' names no command, expected 'command:PROGRAM ARGUMENT…'"),
        ("command:", "'command:' names no command, expected 'command:PROGRAM ARGUMENT…'"),
        ("command:[]", "'command:[]' names no command, expected 'command:PROGRAM ARGUMENT…'"),
        ("command:[1]", "the agent's command is no list of texts: [1]"),
        ('command:["a"', "the agent's command cannot be read: Expecting ',' delimiter: "),
        ("command:a 'b", "the agent's command cannot be read: No closing quotation: a 'b"),
        ("command?text:cat", "'' is no path for 'text': it is empty"),
        ("command?text=a.-1:cat", "'a.-1' is no path for 'text': '-1' is a negative index"),
        ("command?txt=a:cat", "a command has no option 'txt': did you mean 'text'?"),
        ("command?zzz=a:cat", "a command has no option 'zzz': expected one of env, text, usage.input, "),
        ("command?env=A&env=B:cat", "the option 'env' is there twice"),
        ("command?text=a&text=b:cat", "the option 'text' is there twice"),
        ("command?session=a:cat", "the option 'text' is missing: it says where the answer is"),
    ],
)
def test_what_is_no_command(spec: str, message: str) -> None:
    with pytest.raises(AgentError) as caught:
        command.make(spec)
    assert str(caught.value).startswith(message)
