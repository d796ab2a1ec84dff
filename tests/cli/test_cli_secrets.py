"""A secret of the environment that utilities and agents print in every way: no file and no line has it."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus

import pytest
from desk import LONG_S, Desk, Ran

SECRET = 'Sesame+öffne/dich?"jetzt"&sieben mal'  # noqa: S105 - of nobody
NAME = "VAULT_KEY"

SPELL = """
import base64, json, os, sys, urllib.parse as url
key = os.environ["VAULT_KEY"]
raw = key.encode()
spellings = [key, json.dumps(key), json.dumps(key, ensure_ascii=False), raw.hex(), raw.hex().upper()]
for before in (b"", b"u", b"u:"):
    for coder in (base64.b64encode, base64.urlsafe_b64encode):
        text = coder(before + raw + b"!").decode()
        spellings += [text, text.rstrip("="), url.quote(text, safe="")]
every = "".join(f"%{b:02X}" for b in raw)
for text in (url.quote(key), url.quote(key, safe=""), url.quote_plus(key), every):
    begin, *codes = text.split("%")
    small = "%".join([begin, *(code[:2].lower() + code[2:] for code in codes)])
    spellings += [text, small, "https://x?k=" + text]
"""
# It reads JSON; what it sends goes into the state, into prompts, and is seen on the terminal.
TELL = f"""{SPELL}
print(*spellings, sep="\\n", file=sys.stderr)
event = {{"type": "vault.opened", "message": key, "payload": {{key: spellings}}, "source": key}}
told = {{"context": " ".join(spellings), "text": key, "event": [event], "satisfied": True, "odd" + key: 1}}
print(json.dumps(told | {{"state": {{"kept": key, key: spellings}}}}))
"""
# Its output is cut in the middle of the secret, and its error begins there.
CUT = f"""{SPELL}
sys.stdout.write("x" * 985 + key)
sys.stderr.write(key + "y" * 985)
"""
BYTES = f"""{SPELL}
sys.stdout.buffer.write(b"\\xff" + raw)
"""
FAIL = f"""{SPELL}
sys.exit("no way: " + " ".join(spellings))
"""
AGENT = f"""{SPELL}
prompt = sys.stdin.read()
if "REFUSE" in prompt: sys.exit("refused " + " ".join(spellings))
answer = "\\n".join(spellings) + prompt
if "LIST" in prompt:
    items = [{{"title": key, "context": spellings[5]}}]
    answer = json.dumps({{"workItems": items, "context": key}})
print(json.dumps({{"text": answer, "id": key, "by": key, "at": key}}))
"""


def spellings() -> Iterator[str]:
    """Pieces of the secret and of what it is spelt as: each long enough to be no accident."""
    raw = SECRET.encode()
    whole = [SECRET, json.dumps(SECRET)[1:-1], quote(SECRET), quote(SECRET, safe=""), quote_plus(SECRET)]
    whole += ["".join(f"%{byte:02x}" for byte in raw), raw.hex()]
    for before in range(3):
        core = base64.b64encode(bytes(before) + raw)[4 if before else 0 : -4].decode()
        whole += [core, core.replace("+", "-").replace("/", "_"), quote(core, safe="")]
    for text in whole:
        yield from (text[at : at + 10].lower() for at in range(len(text) - 9))


PIECES = frozenset(spellings())


def leaks(text: str) -> list[str]:
    return [piece for piece in PIECES if piece in text.lower()]


def materia(code: str, **more: Any) -> dict[str, Any]:
    return {"command": [sys.executable, "-c", code], "params": {"env": [NAME]}, **more}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)


def check(desk: Desk, ran: Ran) -> None:
    assert leaks(ran.out) == []
    assert leaks(ran.err) == []
    files = [path for path in desk.files.rglob("*") if path.is_file()]
    assert len(files) > 5
    for path in files:
        assert leaks(path.read_bytes().decode("utf-8", "replace")) == [], path
        assert leaks(str(path)) == []


def run(desk: Desk, *options: str) -> Ran:
    (desk.folder / "agent.py").write_text(AGENT, encoding="utf-8")
    told = "text=text&session=id&model=by&provider=at"
    agent = f"command?env={NAME}&{told}:{json.dumps([sys.executable, 'agent.py', SECRET])}"
    request = ("--request", f"open it with {SECRET}")
    return desk.run("--agent", agent, *request, *options, env={NAME: SECRET})


@pytest.mark.parametrize("options", [(), ("--json",)], ids=["words", "json"])
def test_what_is_told_is_found_nowhere(desk: Desk, options: tuple[str, ...]) -> None:
    desk.loadout(
        {
            "tell": {"materia": "Tell", "parse": "json", "edges": [{"to": "cut"}]},
            "cut": {"materia": "Cut", "limits": {"maxOutputBytes": 1000}, "edges": [{"to": "list"}]},
            "list": {"materia": "List", "edges": [{"to": "say"}]},
            "say": {"materia": "Say", "assign": {"said": "lastOutput"}, "edges": [{"to": "see"}]},
            "see": {"materia": "See"},
        },
        {
            "Tell": materia(TELL),
            "Cut": materia(CUT),
            "List": {"prompt": f"LIST {{{{state.kept}}}} {SECRET}", "generator": True},
            "Say": {"prompt": f"say {{{{state}}}} {SECRET}"},
            "See": {"command": ["cat"], "params": {"why": SECRET}},
        },
    )
    ran = run(desk, *options)
    assert ran.code == 0, ran
    assert "***" in ran.out
    check(desk, ran)
    kinds = [record["type"] for record in desk.records()]
    assert {"event", "answer_shown", "turn_finished", "output_cut", "handoff_field_dropped"} <= set(kinds)
    [cut] = desk.files.glob("*/sockets/cut/1.stdout.txt")
    assert re.fullmatch(r"x{985}\*\*\*", cut.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "part",
    [
        pytest.param(materia(FAIL), id="utility"),
        pytest.param(materia(BYTES), id="bytes"),
        pytest.param(materia("print('no object')", parse="json"), id="no object"),
        pytest.param({"command": [f"/no/{SECRET}"]}, id="no program"),
        pytest.param({"prompt": "REFUSE"}, id="agent"),
        pytest.param({"prompt": "say what is no object", "parse": "json"}, id="bad answer"),
    ],
)
def test_what_a_failure_says_is_found_nowhere(desk: Desk, part: dict[str, Any]) -> None:
    desk.loadout({"fail": {"materia": "Fail"}}, {"Fail": part})
    ran = run(desk)
    assert ran.code == 1, ran
    check(desk, ran)


def test_looking_at_a_cast_shows_none_of_it(desk: Desk) -> None:
    desk.loadout(
        {"tell": {"materia": "Tell", "parse": "json", "edges": [{"to": "say"}]}, "say": {"materia": "Say"}},
        {"Tell": materia(TELL), "Say": {"prompt": "REFUSE {{state}}"}},
    )
    assert run(desk).code == 1
    [cast] = [path.name for path in desk.files.iterdir()]
    socket = ("--socket", "say")
    for words in (("status",), ("casts",), ("inspect", cast), ("inspect", cast, *socket), ("tail", cast)):
        done = subprocess.run(
            [sys.executable, "-m", "materiac", *words, "--artifacts", str(desk.files)],
            cwd=desk.folder,
            env=desk.environ(None),
            capture_output=True,
            text=True,
            timeout=LONG_S,
            check=False,
        )
        assert done.stdout, (words, done.stderr)
        assert leaks(done.stdout) == []


def test_what_is_not_listed_is_not_handed_on(desk: Desk) -> None:
    see = [sys.executable, "-c", f"import os; print(os.environ.get('{NAME}', 'nothing'))"]
    desk.loadout(
        {"look": {"materia": "Look", "edges": [{"to": "ask"}]}, "ask": {"materia": "Ask"}},
        {"Look": {"command": see}, "Ask": {"prompt": "What do you see?"}},
    )
    ran = desk.run("--agent", f"command:{json.dumps(see)}", env={NAME: SECRET})
    assert ran.code == 0, ran
    for socket in ("look", "ask"):
        [answer] = desk.files.glob(f"*/sockets/{socket}/1.md")
        assert answer.read_text(encoding="utf-8") == "nothing\n"


def test_what_a_materia_lists_is_handed_on(desk: Desk) -> None:
    see = [sys.executable, "-c", f"import os; print(os.environ.get('{NAME}', 'nothing'))"]
    desk.loadout(
        {"one": {"materia": "One", "edges": [{"to": "two"}]}, "two": {"materia": "Two"}},
        {"One": {"prompt": "What do you see?", "env": [NAME]}, "Two": {"prompt": "And you?"}},
    )
    ran = desk.run("--agent", f"command:{json.dumps(see)}", env={NAME: SECRET})
    assert ran.code == 0, ran
    for socket, seen in (("one", "***\n"), ("two", "nothing\n")):
        [answer] = desk.files.glob(f"*/sockets/{socket}/1.md")
        assert answer.read_text(encoding="utf-8") == seen


def test_the_check_of_this_test_finds_a_leak() -> None:
    for text in (SECRET, quote_plus(SECRET), base64.b64encode(f"x{SECRET}".encode()).decode(), SECRET[5:20]):
        assert leaks(f"<{text}>")
    assert os.environ.get(NAME) is None
