"""The built-ins that need no repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from materiac.shipped import BUILTIN_WRITES
from materiac.utilities import builtin_command
from materiac.utilities.builtins import registry
from materiac.utilities.builtins.call import UtilityError


def ignore(folder: Path, *patterns: str, **params: Any) -> dict[str, Any]:
    call = {"cwd": str(folder), "params": {"patterns": list(patterns), **params}}
    result = registry["project.ensureIgnored"].run(call)
    assert isinstance(result, dict)
    return result


def test_the_registry_has_what_is_shipped() -> None:
    assert {name: builtin.writes for name, builtin in registry.items()} == dict(BUILTIN_WRITES)


def test_names_are_known_without_loading_what_runs_processes() -> None:
    ask = (
        "import sys; from materiac.utilities.builtins import registry; assert registry;"
        "print([name for name in ('subprocess', 'selectors', 'ctypes', 'pydantic') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", ask], capture_output=True, check=True)
    assert done.stdout == b"[]\n"


def test_a_cast_calls_a_builtin_as_a_process(tmp_path: Path) -> None:
    (tmp_path / "materiac.py").write_text("raise SystemExit('the folder of the cast is no place for code')")
    done = subprocess.run(
        builtin_command("echo"), input=b'{"params": {"a": 1}}', cwd=tmp_path, capture_output=True, check=True
    )
    assert done.stdout == b'{"a": 1}\n'


@pytest.mark.parametrize(
    ("name", "call", "result"),
    [
        pytest.param("noop", {"params": {"a": 1}}, {}, id="noop"),
        pytest.param("echo", {}, {}, id="echo-nothing"),
        pytest.param("echo", {"params": None}, {}, id="echo-null"),
        pytest.param("echo", {"params": {"a": 1}}, {"a": 1}, id="echo-params"),
        pytest.param("echo", {"params": {"a": 1, "output": {"b": 2}}}, {"b": 2}, id="echo-output"),
        pytest.param("echo", {"params": {"output": "text"}}, "text", id="echo-text"),
    ],
)
def test_echo_and_noop(name: str, call: dict[str, Any], result: Any) -> None:
    assert registry[name].run(call) == result


@pytest.mark.parametrize(
    ("before", "patterns", "after", "added"),
    [
        pytest.param(None, ["a/"], b"a/\n", ["a/"], id="no-file"),
        pytest.param(b"", ["a/", "b"], b"a/\nb\n", ["a/", "b"], id="empty-file"),
        pytest.param(b"x\n", ["a/"], b"x\na/\n", ["a/"], id="appended"),
        pytest.param(b"x", ["a/"], b"x\na/\n", ["a/"], id="no-last-newline"),
        pytest.param(b"x\r\ny\r\n", ["a", "b"], b"x\r\ny\r\na\r\nb\r\n", ["a", "b"], id="crlf"),
        pytest.param(b"x\r\ny", ["a"], b"x\r\ny\r\na\r\n", ["a"], id="crlf-no-last-newline"),
        pytest.param(b"a/\nx", ["a/"], b"a/\nx", [], id="there"),
        pytest.param(b"a/  \r\n", ["a/"], b"a/  \r\n", [], id="there-with-spaces"),
        pytest.param(b"a\\ \n", ["a\\"], b"a\\ \na\\\n", ["a\\"], id="escaped-space"),
        pytest.param(b"\xef\xbb\xbfa\n", ["a"], b"\xef\xbb\xbfa\n", [], id="byte-order-mark"),
        pytest.param(b"# a\nab\n", ["a"], b"# a\nab\na\n", ["a"], id="not-a-part"),
        pytest.param(b"\xff\n", ["\u00e9"], b"\xff\n\xc3\xa9\n", ["\u00e9"], id="bytes-stay"),
        pytest.param(None, ["a", "a"], b"a\n", ["a"], id="twice"),
        pytest.param(b"x\n", [], b"x\n", [], id="nothing-asked"),
    ],
)
def test_ensure_ignored(
    before: bytes | None, patterns: list[str], after: bytes, added: list[str], tmp_path: Path
) -> None:
    file = tmp_path / ".gitignore"
    if before is not None:
        file.write_bytes(before)
    expected = {"ok": True, "file": ".gitignore", "changed": bool(added), "added": added}
    assert ignore(tmp_path, *patterns) == {**expected, "state": {"artifactIgnore": expected}}
    assert file.read_bytes() == after
    assert ignore(tmp_path, *patterns)["added"] == []
    assert file.read_bytes() == after


def test_ensure_ignored_in_another_file_and_through_a_link_inside(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "real").write_bytes(b"x\n")
    (tmp_path / "link").symlink_to("sub/real")
    assert ignore(tmp_path, "a", file="link")["file"] == "link"
    assert (tmp_path / "sub" / "real").read_bytes() == b"x\na\n"
    assert (tmp_path / "link").is_symlink()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        pytest.param({}, "'params.patterns' is null, expected a list of patterns", id="no-patterns"),
        pytest.param(
            {"patterns": "a"}, "'params.patterns' is a text, expected a list of patterns", id="text"
        ),
        pytest.param({"patterns": [1]}, "a pattern is a number, expected a text", id="number"),
        pytest.param({"patterns": [" "]}, "a pattern is blank", id="blank"),
        pytest.param({"patterns": ["a\nb"]}, "the pattern 'a\\nb' is more than one line", id="two-lines"),
        pytest.param({"file": "../x"}, "'params.file' leads to '{top}/x', outside", id="outside"),
        pytest.param({"file": "/x"}, "'params.file' leads to '/x', outside", id="absolute"),
        pytest.param({"file": "out/x"}, "'params.file' leads to '{top}/x', outside", id="folder-link"),
        pytest.param({"file": "dangling"}, "'params.file' leads to '{top}/none', outside", id="file-link"),
        pytest.param({"file": "sub"}, "'params.file' leads to '{cwd}/sub', which is no file", id="folder"),
        pytest.param(
            {"file": "no/x"}, "'params.file' leads to a folder '{cwd}/no' that does not", id="no-folder"
        ),
        pytest.param({"file": 1}, "'params.file' is a number, expected a text", id="file-number"),
        pytest.param({"file": "a\0"}, "'params.file' has a NUL character in it", id="nul"),
        pytest.param({"file": "x" * 300}, "'params.file' leads nowhere: 'xxx", id="long"),
        pytest.param({"file": "round"}, "'params.file' leads nowhere: 'round'", id="round"),
    ],
)
def test_what_ensure_ignored_refuses(params: dict[str, Any], message: str, tmp_path: Path) -> None:
    cwd = tmp_path / "cwd"
    (cwd / "sub").mkdir(parents=True)
    (cwd / "out").symlink_to("..")
    (cwd / "dangling").symlink_to("../none")
    (cwd / "round").symlink_to("round")
    given = params if "patterns" in params or not params else {"patterns": ["a"], **params}
    with pytest.raises(UtilityError) as caught:
        registry["project.ensureIgnored"].run({"cwd": str(cwd), "params": given})
    assert message.format(top=tmp_path, cwd=cwd) in str(caught.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cwd"]


HEADERS = [
    "feat: sweep",
    "fix(shed door): oil the hinges",
    "feat!: drop the attic",
    "chore(deps)!: renew",
    "Docs: café",
    "build-ci: x",
]
OTHERS = [
    "sweep the floor",
    "feat:sweep",
    "feat : sweep",
    "feat(): sweep",
    "feat( ): sweep",
    "feat: ",
    "feat!!: x",
    ": x",
    "two words: x",
    "feat: a\nb",
    "feat: a\n",
    " feat: a",
    "feat(a: b",
    "1: x",
]


@pytest.mark.parametrize("title", HEADERS)
def test_headers(title: str) -> None:
    items = [{"title": title, "context": "c"}]
    result = registry["handoff.checkTitles"].run({"state": {"workItems": items}})
    assert result == {"workItems": items, "satisfied": True, "context": ""}


@pytest.mark.parametrize("title", OTHERS)
def test_titles_that_are_no_headers(title: str) -> None:
    items = [{"title": "fix: it", "context": "c"}, {"title": title, "context": "c"}]
    result = registry["handoff.checkTitles"].run({"state": {"workItems": items}})
    assert (result["workItems"], result["satisfied"]) == (items, False)
    assert f"WI-2 '{title}'" in result["context"]
    assert "WI-1" not in result["context"]


def test_items_without_a_title() -> None:
    items = ["fix: it", {"title": 3}, {"context": "c"}]
    result = registry["handoff.checkTitles"].run({"state": {"workItems": items}})
    assert result["context"].endswith("WI-1 has no title; WI-2 has no title; WI-3 has no title")


@pytest.mark.parametrize("call", [{}, {"state": {}}, {"state": {"workItems": {}}}, {"state": 1}])
def test_no_work_items(call: dict[str, Any]) -> None:
    with pytest.raises(UtilityError, match=r"'state.workItems' is (null|an object), expected a list"):
        registry["handoff.checkTitles"].run(call)


@pytest.mark.parametrize("name", ["project.ensureIgnored", "vcs.checkpoint", "echo"])
def test_params_that_are_no_object(name: str) -> None:
    with pytest.raises(UtilityError, match="'params' is a list, expected an object"):
        registry[name].run({"params": []})


@pytest.mark.parametrize("name", ["project.ensureIgnored", "vcs.detect", "vcs.checkpoint"])
@pytest.mark.parametrize(
    ("cwd", "message"),
    [
        (1, "'cwd' is a number, expected a text"),
        ("/no/such", "'cwd' leads to '/no/such', which is no folder"),
    ],
)
def test_a_working_folder_that_is_none(name: str, cwd: Any, message: str) -> None:
    with pytest.raises(UtilityError) as caught:
        registry[name].run({"cwd": cwd, "params": {"patterns": ["a"]}})
    assert str(caught.value) == message
