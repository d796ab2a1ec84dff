"""The seven tools, as a model calls them."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import needs_proc, wait_none

from materiac.agents.llm import tools as tools_module
from materiac.agents.llm.folder import FolderError
from materiac.agents.llm.tools import ToolError, Tools
from materiac.process import StoppedError

Call = Callable[..., str]


@pytest.fixture
def stop() -> threading.Event:
    return threading.Event()


@pytest.fixture
def call(tmp_path: Path, stop: threading.Event) -> Call:
    """Call a tool by its name, on a small folder."""
    files = {
        "a.txt": "one\ntwo\nthree\n",
        "src/main.py": "import os\nprint('Hello')\n",
        "src/deep/other.py": "x = 'hello'\n",
        "src/deep/page.md": "# Hello\n",
        ".git/config": "hello\n",
        "node_modules/m/index.js": "hello\n",
        "crlf.txt": "one\r\ntwo\r\n",
    }
    for name, text in files.items():
        path = tmp_path / "work" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (tmp_path / "work" / "bytes").write_bytes(b"\0hello\xff")
    (tmp_path / "work" / "latin.txt").write_bytes(b"caf\xe9 hello\n")
    (tmp_path / "secret").write_text("hello\n")
    (tmp_path / "work" / "out").symlink_to(tmp_path)
    tools = Tools(tmp_path / "work", dict(os.environ), stop, "tools")

    def call(name: str, *args: Any, **more: Any) -> str:
        tool = tools.named(name)
        assert tool is not None
        return tool(*args, **more)

    return call


def test_names(tmp_path: Path) -> None:
    tools = Tools(tmp_path, {}, threading.Event())
    for name in ("read", "grep", "find", "ls", "bash", "edit", "write"):
        assert tools.named(name) is not None
    assert tools.named("fly") is None
    assert tools.named("_run") is None


def test_read(call: Call) -> None:
    assert call("read", "a.txt") == "one\ntwo\nthree\n"
    assert call("read", "a.txt", offset=2) == "two\nthree\n"
    assert call("read", "a.txt", offset=-5, limit=1) == "one\n\n[there is more: go on with offset=2]"
    assert call("read", "latin.txt") == "caf\ufffd hello\n"


def test_read_is_bounded(call: Call) -> None:
    call("write", "long.txt", "".join(f"line {n}\n" for n in range(1, 5000)))
    text = call("read", "long.txt")
    assert text.endswith("line 2000\n\n[there is more: go on with offset=2001]")
    assert call("read", "long.txt", offset=4999) == "line 4999\n"
    call("write", "wide.txt", "x" * 200_000)
    assert len(call("read", "wide.txt")) < 60_000
    call("write", "both.txt", ("y" * 1000 + "\n") * 100)
    assert call("read", "both.txt").endswith("[there is more: go on with offset=52]")


@pytest.mark.parametrize(
    ("path", "more", "message"),
    [
        ("bytes", {}, "'bytes' is no text"),
        ("a.txt", {"offset": 9}, "'a.txt' has fewer than 9 lines"),
        ("out/secret", {}, "'out/secret' is outside of the working folder"),
    ],
)
def test_what_cannot_be_read(call: Call, path: str, more: dict[str, Any], message: str) -> None:
    with pytest.raises((ToolError, FolderError)) as caught:
        call("read", path, **more)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("pattern", "more", "lines"),
    [
        ("[Hh]ello", {"glob": "*.py"}, ["src/deep/other.py:1: x = 'hello'", "src/main.py:2: print('Hello')"]),
        ("^hello", {}, []),
        ("^# h", {"ignore_case": True, "path": "src"}, ["deep/page.md:1: # Hello"]),
        ("hello", {"path": "src/deep/other.py"}, ["src/deep/other.py:1: x = 'hello'"]),
        ("hello", {"path": ".git"}, ["config:1: hello"]),
        ("o$", {"glob": "src/**/*.md"}, ["src/deep/page.md:1: # Hello"]),
        (
            ".",
            {"path": "a.txt", "limit": 2},
            ["a.txt:1: one", "a.txt:2: two", "[there are more than 2: ask for fewer]"],
        ),
        ("caf", {}, ["latin.txt:1: caf\ufffd hello"]),
        ("two$", {"glob": "crlf.*"}, ["crlf.txt:2: two"]),
    ],
)
def test_grep(call: Call, pattern: str, more: dict[str, Any], lines: list[str]) -> None:
    assert call("grep", pattern, **more).splitlines() == (lines or ["no line matches"])


@pytest.mark.parametrize(
    ("pattern", "more", "lines"),
    [
        ("*.py", {}, ["src/deep/other.py", "src/main.py"]),
        ("src/*.py", {}, ["src/main.py"]),
        ("src/**", {}, ["src/", "src/deep/", "src/deep/other.py", "src/deep/page.md", "src/main.py"]),
        ("**/d*/*", {}, ["src/deep/other.py", "src/deep/page.md"]),
        ("*.js", {}, ["nothing matches"]),
        ("*.js", {"path": "node_modules"}, ["m/index.js"]),
        ("secret", {}, ["nothing matches"]),
        ("*", {"path": "src", "limit": 1}, ["deep/", "[there are more than 1: ask for fewer]"]),
    ],
)
def test_find(call: Call, pattern: str, more: dict[str, Any], lines: list[str]) -> None:
    assert call("find", pattern, **more).splitlines() == lines


@pytest.mark.parametrize("tool", ["grep", "find"])
@pytest.mark.parametrize("path", ["out", "..", "/etc", "nowhere"])
def test_where_there_is_nothing_to_look_in(call: Call, tool: str, path: str) -> None:
    with pytest.raises(ToolError, match=r"is outside of the working folder|no such file or directory"):
        call(tool, "hello", path=path)


def test_a_pattern_that_is_none(call: Call) -> None:
    with pytest.raises(ToolError, match="unterminated subpattern"):
        call("grep", "(")


def test_a_pattern_that_takes_for_ever(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools_module, "_SEARCH_S", 0.5)
    call("write", "many.txt", "a" * 60 + "b")
    with pytest.raises(ToolError, match=r"the search took longer than 0\.5 s"):
        call("grep", "(a+)+$", path="many.txt")


def test_a_search_runs_no_code_of_the_folder(call: Call) -> None:
    for name in ("re.py", "materiac/__init__.py", "fnmatch.py"):
        call("write", name, "raise SystemExit('taken')")
    assert "a.txt" in call("find", "a.*")


def test_ls(call: Call) -> None:
    names = [".git/", "a.txt", "bytes", "crlf.txt", "latin.txt", "node_modules/", "out@", "src/"]
    assert call("ls").splitlines() == names
    assert call("ls", "src").splitlines() == ["deep/", "main.py"]
    call("bash", "mkdir empty")
    assert call("ls", "empty") == "the folder is empty"
    with pytest.raises(FolderError, match="outside"):
        call("ls", "out")


def test_ls_is_bounded(call: Call) -> None:
    call("bash", "mkdir many; cd many; touch $(seq 700)")
    assert call("ls", "many").endswith("\n[and 200 more]")


def test_write(call: Call, tmp_path: Path) -> None:
    assert call("write", "new/ä.txt", "grün\u2028") == "wrote 'new/ä.txt', 8 bytes"
    assert call("write", "new/ä.txt", "rot") == "replaced 'new/ä.txt', 3 bytes"
    assert (tmp_path / "work/new/ä.txt").read_text(encoding="utf-8") == "rot"
    with pytest.raises(FolderError, match="outside"):
        call("write", "out/new.txt", "x")
    assert not (tmp_path / "new.txt").exists()


def test_edit(call: Call, tmp_path: Path) -> None:
    assert call("edit", "a.txt", "two\n", "2\n") == "edited 'a.txt' at line 2"
    assert call("read", "a.txt") == "one\n2\nthree\n"
    assert call("edit", "crlf.txt", "one\ntwo", "1\n2") == "edited 'crlf.txt' at line 1"
    assert (tmp_path / "work/crlf.txt").read_bytes() == b"1\r\n2\r\n"


@pytest.mark.parametrize(
    ("path", "old", "message"),
    [
        ("a.txt", "four", "the old text is 0 times in 'a.txt', expected once"),
        ("a.txt", "o", "the old text is 2 times in 'a.txt', expected once"),
        ("a.txt", "", "the old text is 0 times in 'a.txt', expected once"),
        ("latin.txt", "caf", "'latin.txt' is no UTF-8: byte 3 of it"),
        ("nowhere", "x", "'nowhere': no such file or directory"),
    ],
)
def test_what_cannot_be_edited(call: Call, path: str, old: str, message: str) -> None:
    with pytest.raises((ToolError, FolderError)) as caught:
        call("edit", path, old, "new")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo out; echo err >&2", "out\nerr\n"),
        ("true", "[no output]"),
        ("echo x; exit 3", "x\n\n[exit code 3]"),
        ("kill -9 $$", "\n[ended by signal 9]"),
        ("cat; pwd; echo $PWD", "{cwd}\n{cwd}\n"),
        ("printf 'caf\\xe9'", "caf\ufffd"),
        ("echo \"it's\" '$HOME' `echo q`", "it's $HOME q\n"),
    ],
)
def test_bash(call: Call, tmp_path: Path, command: str, text: str) -> None:
    assert call("bash", command) == text.format(cwd=tmp_path / "work")


def test_of_a_flood_the_end_is_kept(call: Call) -> None:
    text = call("bash", f'{sys.executable} -c \'print("x" * 10**6); print("the end")\'')
    assert text.startswith("[the first ")
    assert text.endswith("x\nthe end\n")
    assert len(text) < 60_000


@needs_proc
def test_a_command_has_its_time(call: Call) -> None:
    assert call("bash", "sleep 600", timeout=0.3) == "\n[ended after 0.3 s]"
    wait_none(":tools.")


@needs_proc
def test_a_command_is_stopped(call: Call, stop: threading.Event) -> None:
    threading.Timer(0.2, stop.set).start()
    began = time.monotonic()
    with pytest.raises(StoppedError):
        call("bash", "sleep 600")
    assert time.monotonic() - began < 10
    wait_none(":tools.")


def test_a_command_that_is_too_long(call: Call) -> None:
    with pytest.raises(ToolError, match="Argument list too long"):
        call("bash", "echo " + "x" * 300_000)
