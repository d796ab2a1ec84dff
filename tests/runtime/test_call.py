from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from samples import STEP, Json, answers, cast, loadout, socket

from materiac.runtime.run import Result
from materiac.utilities.builtins import registry

ECHO_STDIN = "import sys, json; print(json.dumps({'state': {'got': json.load(sys.stdin)}}))"
SECRET = "s3cr3t-value"  # noqa: S105 - no password of anything


def python(code: str, *arguments: str, **fields: Any) -> Json:
    """A utility that is a Python program."""
    return {"command": [sys.executable, "-c", code, *arguments], **fields}


def call(
    cwd: Path,
    utility: Json,
    *,
    environ: dict[str, str] | None = None,
    then: Json | None = None,
    **fields: Any,
) -> Result:
    """A cast of one socket, called `u`, of a utility."""
    sockets = {"u": {"materia": "U", **fields}, **(then or {})}
    config = loadout(sockets, materia={"U": utility})
    rest: dict[str, Any] = {} if environ is None else {"environ": {"PATH": "/usr/bin:/bin", **environ}}
    return cast(config, cwd, answers(), **rest)


def failure(result: Result) -> tuple[str, str]:
    assert result.status == "failed"
    found = result.cast.failure
    assert found is not None
    assert (found["socket"], found["visit"]) == ("u", 1)
    return found["kind"], found["message"]


def kept(result: Result, suffix: str) -> bytes:
    return (result.folder / "sockets" / "u" / f"1{suffix}").read_bytes()


def records(result: Result) -> list[Json]:
    return [json.loads(line) for line in (result.folder / "events.jsonl").read_bytes().splitlines()]


def test_what_it_reads(tmp_path: Path) -> None:
    config = loadout(
        {
            "plan": {"materia": "Planner", "edges": [{"to": "u"}]},
            "u": {
                "materia": "U",
                "parse": "json",
                "advance": STEP,
                "assign": {"seen": "state.got"},
                "edges": [{"to": "u"}],
            },
        },
        loops={
            "work": {"sockets": ["u"], "consumes": {"from": "plan", "output": "workItems", "cursor": "at"}}
        },
        materia={"U": python(ECHO_STDIN, label="The utility", params={"a": ["{{request}}", 1]})},
    )
    config["loadouts"]["L"]["sockets"]["u"]["advance"] = {"cursor": "at", "items": "state.workItems"}
    item = {"title": "One", "context": "c"}
    result = cast(config, tmp_path, answers(plan={"json": {"workItems": [item], "context": "Why."}}))
    got = result.cast.knowledge.state["seen"]
    state = got.pop("state")
    assert state == {
        "envelope": {"workItems": [item], "context": "Why."},
        "workItems": [item],
        "context": "[plan Planner] Why.",
    }
    assert got == {
        "cwd": str(tmp_path),
        "runDir": str(result.folder),
        "request": "a request",
        "castId": result.cast.bench.cast_id,
        "socketId": "u",
        "materiaId": "U",
        "materiaLabel": "The utility",
        "params": {"a": ["{{request}}", 1]},
        "item": item,
        "itemKey": "WI-1",
        "itemLabel": "One",
        "cursor": 0,
        "cursors": {"at": 0},
    }
    assert json.loads(kept(result, ".stdin.json")) == {**got, "state": state}


def test_without_an_item(tmp_path: Path) -> None:
    result = call(tmp_path, python(ECHO_STDIN), parse="json")
    got = result.cast.knowledge.state["got"]
    assert [got[key] for key in ("item", "itemKey", "itemLabel", "cursor", "cursors", "params", "state")] == [
        *(None,) * 4,
        {},
        {},
        {},
    ]


def test_the_cursor_is_that_of_its_own_loop(tmp_path: Path) -> None:
    """Two loops with one cursor name: within the one that was entered first, its own place counts."""
    step = {"cursor": "at", "items": "state.workItems"}
    code = (
        "import sys, json; got = json.load(sys.stdin); n = got['state'].get('n', 0) + 1; "
        "seen = [got['cursor'], got['cursors']]; "
        "print(json.dumps({'satisfied': n < 2, 'state': {'n': n, f'at{n}': seen}}))"
    )
    leaving = [{"when": "satisfied", "to": "x"}, {"when": "not_satisfied", "to": "a"}]
    back = [{"when": "satisfied", "to": "u", "maxTraversals": 1}, {"when": "not_satisfied", "to": "x"}]
    config = loadout(
        {
            "plan": {"materia": "Planner", "edges": [{"to": "a"}]},
            "a": socket(edges=[{"to": "u"}]),
            "u": {"materia": "U", "parse": "json", "edges": leaving},
            "x": socket(edges=[{"to": "y"}]),
            "y": socket(parse="json", advance=step, edges=back),
        },
        loops={
            "one": {"sockets": ["a", "u"], "iterator": {"items": "state.workItems", "cursor": "at"}},
            "two": {"sockets": ["x", "y"], "iterator": {"items": "state.workItems", "cursor": "at"}},
        },
        materia={"U": python(code)},
    )
    items = [{"title": title, "context": "c"} for title in ("One", "Two")]
    result = cast(config, tmp_path, answers(plan={"json": {"workItems": items}}, y={"satisfied": True}))
    assert result.cast.path[:6] == ["plan", "a", "u", "x", "y", "u"]
    assert result.cast.knowledge.state["at1"] == [0, {"at": 0}]
    assert result.cast.knowledge.state["at2"] == [0, {"at": 0}]


WORKS: dict[str, tuple[str, Json, str | None]] = {
    "text": ("print('  hello ')", {}, "  hello \n"),
    "nothing": ("", {}, ""),
    "unread stdin": ("import os; os.close(0); print('ok')", {}, "ok\n"),
    "many characters": ("print('ä€😀')", {}, "ä€😀\n"),
    "much on both": (
        "import sys; sys.stderr.write('e' * 500_000); sys.stdout.write('o' * 500_000)",
        {},
        "o" * 500_000,
    ),
    "in the working folder": ("import os; print(os.path.basename(os.getcwd()))", {}, None),
}


@pytest.mark.parametrize("name", WORKS)
def test_text(name: str, tmp_path: Path) -> None:
    code, fields, expected = WORKS[name]
    result = call(tmp_path, python(code), **fields)
    assert (result.status, result.cast.failure) == ("complete", None)
    text = f"{tmp_path.name}\n" if expected is None else expected
    assert result.cast.knowledge.last_output == text
    assert kept(result, ".md").decode() == text
    assert kept(result, ".stdout.txt").decode() == text


def test_stderr_is_kept(tmp_path: Path) -> None:
    result = call(tmp_path, python("import sys; print('out'); print('err', file=sys.stderr)"))
    assert kept(result, ".stderr.txt") == b"err\n"
    command = json.loads(kept(result, ".command.json"))
    assert command["command"][0] == sys.executable
    assert {key: command[key] for key in ("cwd", "timeoutMs", "code", "signal", "timedOut")} == {
        "cwd": str(tmp_path),
        "timeoutMs": 30_000,
        "code": 0,
        "signal": None,
        "timedOut": False,
    }
    assert (command["stdoutBytes"], command["stderrBytes"]) == (4, 4)


def test_an_object(tmp_path: Path) -> None:
    code = 'print(\'Here: {"context": "c", "state": {"a": 1}, "odd": 2} done\')'
    result = call(tmp_path, python(code), parse="json", assign={"b": "$.context"})
    assert result.status == "complete"
    assert result.cast.knowledge.state["a"] == 1
    assert result.cast.knowledge.state["b"] == "c"
    assert json.loads(kept(result, ".json")) == {"context": "c", "state": {"a": 1}, "odd": 2}


FAILS: dict[str, tuple[Json, Json, str, str]] = {
    "code": (
        python("import sys; print('why', file=sys.stderr); sys.exit(3)"),
        {},
        "utility-exit",
        " ended with code 3: why",
    ),
    "a code and nothing said": (python("raise SystemExit(4)"), {}, "utility-exit", " ended with code 4"),
    "a signal": (
        python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)"),
        {},
        "utility-exit",
        " was ended by signal 9",
    ),
    "time": (
        python("import time; time.sleep(60)", timeoutMs=200),
        {},
        "utility-timeout",
        " was not done within its 200 ms, and was ended",
    ),
    "not there": (
        {"command": ["no-such-program-anywhere"]},
        {},
        "utility-start",
        "'no-such-program-anywhere' is not on the PATH",
    ),
    "no built-in yet": (
        {"utility": "vcs.spawnJjWorkspace"},
        {},
        "utility-start",
        "there is no built-in 'vcs.spawnJjWorkspace' in this version",
    ),
    "no object": (
        python("print('hello')"),
        {"parse": "json"},
        "output",
        "the output was refused: no JSON object was found",
    ),
    "a broken contract": (
        python("print('{}')"),
        {"parse": "json", "assign": {"a": "$.b"}},
        "output",
        "the output was refused: 'b' is missing, expected any value",
    ),
    "no text": (
        python("import sys; sys.stdout.buffer.write(b'a\\xffb')"),
        {},
        "output",
        "the output is no UTF-8 text: invalid start byte at byte 1",
    ),
    "no text for json": (
        python("import sys; sys.stdout.buffer.write(b'{}\\xff')"),
        {"parse": "json"},
        "output",
        "the output is no UTF-8 text: invalid start byte at byte 2",
    ),
    "too much json": (
        python("print('{\"context\": \"' + 'x' * 100 + '\"}')"),
        {"parse": "json", "limits": {"maxOutputBytes": 50}},
        "output-limit",
        "the output has 116 bytes, 50 are allowed",
    ),
    "no text, cut": (
        python("import sys; sys.stdout.buffer.write(b'12345678\\xff and more')"),
        {"limits": {"maxOutputBytes": 9}},
        "output",
        "the output is no UTF-8 text: invalid start byte at byte 8",
    ),
}


@pytest.mark.parametrize("name", FAILS)
def test_failures(name: str, tmp_path: Path) -> None:
    utility, fields, kind, message = FAILS[name]
    result = call(tmp_path, utility, **fields)
    found_kind, found = failure(result)
    assert found_kind == kind
    assert found.endswith(message)
    assert records(result)[-2]["type"] == "socket_failed"


def test_raw_bytes_are_kept(tmp_path: Path) -> None:
    result = call(tmp_path, python("import sys; sys.stdout.buffer.write(b'a\\xffb\\x00')"))
    assert failure(result)[0] == "output"
    assert kept(result, ".stdout.txt") == b"a\xffb\x00"


def test_a_failed_command_leaves_its_files(tmp_path: Path) -> None:
    result = call(tmp_path, python("import sys; print('o'); print('e' * 5000, file=sys.stderr); sys.exit(1)"))
    message = failure(result)[1]
    assert message.endswith("e" * 600)
    assert not message.endswith("e" * 601)
    assert kept(result, ".stdout.txt") == b"o\n"
    assert len(kept(result, ".stderr.txt")) == 5001
    assert json.loads(kept(result, ".command.json"))["code"] == 1


@pytest.mark.parametrize(
    ("limit", "text", "expected"),
    [
        (4, "abcdef", "abcd"),
        (4, "abcä", "abc"),
        (4, "ab€", "ab"),
        (4, "a😀", "a"),
        (5, "a😀", "a😀"),
        (1, "ä", ""),
    ],
)
def test_text_over_its_limit_is_cut_at_a_character(
    limit: int, text: str, expected: str, tmp_path: Path
) -> None:
    code = f"import sys; sys.stdout.buffer.write({text!r}.encode())"
    result = call(tmp_path, python(code), limits={"maxOutputBytes": limit})
    assert (result.status, result.cast.knowledge.last_output) == ("complete", expected)
    cut = [part for part in records(result) if part["type"] == "output_cut"]
    size, left = len(text.encode()), len(expected.encode())
    assert [(part["bytes"], part["kept"]) for part in cut] == ([] if size <= limit else [(size, left)])


def test_a_mebibyte_is_the_limit_otherwise(tmp_path: Path) -> None:
    result = call(tmp_path, python("import sys; sys.stdout.write('x' * (2**20 + 1))"))
    assert result.status == "complete"
    assert len(result.cast.knowledge.last_output or "") == 2**20
    code = "import sys; sys.stderr.write('x' * (2**20 + 1)); print('{}')"
    result = call(tmp_path, python(code), parse="json")
    assert result.status == "complete"
    assert len(kept(result, ".stderr.txt")) == 2**20


def test_secrets_do_not_reach_it_unless_they_are_listed(tmp_path: Path) -> None:
    code = "import os, json; print(json.dumps({'state': {'seen': sorted(os.environ)}}))"
    environ = {"MY_API_KEY": SECRET, "GH_TOKEN": SECRET * 2, "PLAIN": "p"}
    result = call(tmp_path, python(code), environ=environ, parse="json")
    assert {"MY_API_KEY", "GH_TOKEN", "PLAIN"} & set(result.cast.knowledge.state["seen"]) == {"PLAIN"}
    listed = python(code, params={"env": ["MY_API_KEY", "NOT_THERE", 5]})
    result = call(tmp_path, listed, environ=environ, parse="json")
    assert {"MY_API_KEY", "GH_TOKEN", "PLAIN"} & set(result.cast.knowledge.state["seen"]) == {
        "PLAIN",
        "MY_API_KEY",
    }


def test_secrets_are_masked_in_all_that_is_kept(tmp_path: Path) -> None:
    code = (
        "import os, sys, json; key = os.environ['MY_API_KEY']; print(key, file=sys.stderr); "
        "sys.stdin.read(); print(json.dumps({'context': f'it is {key}', 'state': {'k': [key]}}))"
    )
    utility = python(code, SECRET, params={"env": ["MY_API_KEY"], "given": SECRET})
    result = call(
        tmp_path, utility, environ={"MY_API_KEY": SECRET}, parse="json", assign={"said": "$.context"}
    )
    assert result.status == "complete"
    assert result.cast.knowledge.state["said"] == "it is ***"
    assert result.cast.knowledge.state["k"] == ["***"]
    assert SECRET not in json.dumps(result.as_data())
    assert _files_with(SECRET, result.folder) == []


@pytest.mark.parametrize(
    "utility",
    [
        pytest.param(
            python("import sys; print(sys.argv[1], file=sys.stderr); sys.exit(1)", SECRET), id="code"
        ),
        pytest.param({"command": [f"/no/such/{SECRET}", SECRET]}, id="start"),
        pytest.param(python("import time; time.sleep(9)", SECRET, timeoutMs=100), id="time"),
        pytest.param(python(f"import sys; sys.stdout.buffer.write(b'{SECRET}' + bytes([255]))"), id="bytes"),
    ],
)
def test_secrets_are_masked_in_failures(utility: Json, tmp_path: Path) -> None:
    result = call(tmp_path, utility, environ={"MY_API_KEY": SECRET})
    assert result.status == "failed"
    assert SECRET not in json.dumps(result.as_data())
    assert _files_with(SECRET, result.folder) == []


def _files_with(text: str, folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return [str(path.relative_to(folder)) for path in files if text.encode() in path.read_bytes()]


@pytest.mark.parametrize("name", ["echo", "noop", "vcs.detect"])
def test_built_ins_are_programs_of_their_own(name: str, tmp_path: Path) -> None:
    assert name in registry
    result = call(tmp_path, {"utility": name}, parse="json")
    command = json.loads(kept(result, ".command.json"))
    assert command["command"][0] == sys.executable
    assert command["command"][-2:] == ["utility", name]
    assert command["code"] == 0


@pytest.mark.parametrize("own", ["materiac/__init__.py", "json.py", "argparse.py", "materiac.py"])
def test_a_project_s_own_modules_do_not_disturb_built_ins(own: str, tmp_path: Path) -> None:
    path = tmp_path / own
    path.parent.mkdir(exist_ok=True)
    path.write_text("raise SystemExit('the wrong one')", encoding="utf-8")
    utility = {"utility": "echo", "params": {"output": {"state": {"ok": True}}}}
    result = call(tmp_path, utility, parse="json")
    assert (result.status, result.cast.knowledge.state["ok"]) == ("complete", True)


def test_big_pipes(tmp_path: Path) -> None:
    code = (
        "import sys, json; got = json.load(sys.stdin); "
        "print(json.dumps({'state': {'n': len(got['params']['x'])}}))"
    )
    result = call(tmp_path, python(code, params={"x": "y" * 900_000}), parse="json")
    assert result.cast.knowledge.state["n"] == 900_000


def test_deep_values_go_through(tmp_path: Path) -> None:
    code = "import sys; sys.stdin.read(); print('{\"state\": {\"deep\": ' + '[' * 240 + ']' * 240 + '}}')"
    then = {"again": {"materia": "U", "parse": "json", "edges": [{"to": "ask"}]}, "ask": socket()}
    result = call(tmp_path, python(code), parse="json", edges=[{"to": "again"}], then=then)
    assert (result.status, result.cast.path) == ("complete", ["u", "again", "ask"])
    assert json.dumps(result.as_data()["data"]["deep"]) == "[" * 240 + "]" * 240


def test_no_time_is_too_long(tmp_path: Path) -> None:
    assert call(tmp_path, python("print('ok')", timeoutMs=10**18)).status == "complete"
