"""`vcs.detect` and `vcs.checkpoint`: git is the real one, jj a stand-in that keeps what it is told."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from materiac.utilities.builtins import registry
from materiac.utilities.builtins.call import UtilityError

JJ = """#!/bin/sh
folder=$PWD
while [ ! -d "$folder/.jj" ]; do
  [ "$folder" = / ] && { echo "Error: There is no jj repo in \\".\\"" >&2; exit 1; }
  folder=$(dirname "$folder")
done
[ "$1" = --no-pager ] && shift
[ "$1" = --color=never ] && shift
printf '%s\\n' "$*" >> "$folder/.jj/log"
[ -f "$folder/.jj/broken" ] && [ "$1" != root ] && { echo "Error: it is broken" >&2; exit 1; }
case $1 in
  root) echo "$folder" ;;
  diff) cat "$folder/.jj/changes" 2>/dev/null || true ;;
  new) rm -f "$folder/.jj/changes" ;;
  log) printf abc123 ;;
esac
"""


@pytest.fixture(autouse=True)
def git_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An identity, no settings of this machine, no repository above it."""
    settings = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(tmp_path)}
    for role in ("AUTHOR", "COMMITTER"):
        settings |= {f"GIT_{role}_NAME": "A", f"GIT_{role}_EMAIL": "a@example.org"}
    for name, value in {**settings, "GIT_CEILING_DIRECTORIES": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A git repository with one commit, of the file `kept`."""
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=main")
    write(folder / "kept", "1")
    git(folder, "add", "kept")
    git(folder, "commit", "--quiet", "--message=first")
    return folder


@pytest.fixture
def jj(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A jj repository, and a stand-in for the program on the PATH."""
    write(tmp_path / "bin" / "jj", JJ).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    (tmp_path / "project" / ".jj").mkdir(parents=True)
    return tmp_path / "project"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, check=True, text=True)
    return done.stdout.strip()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def detect(cwd: Path) -> tuple[str, str | None]:
    result = registry["vcs.detect"].run({"cwd": str(cwd)})
    assert result["state"] == {"vcs": {key: result[key] for key in ("kind", "root", "available")}}
    return result["kind"], result["root"]


def checkpoint(cwd: Path, **call: Any) -> dict[str, Any]:
    result = registry["vcs.checkpoint"].run({"cwd": str(cwd), **call})
    assert list(result) == ["satisfied", "context", "state"]
    return {**result["state"]["checkpoint"], "satisfied": result["satisfied"], "context": result["context"]}


def committed(folder: Path) -> list[str]:
    return git(folder, "show", "--name-only", "--format=", "HEAD").split()


def messages(folder: Path) -> list[str]:
    return git(folder, "log", "--format=%s").splitlines()


def test_detect_git_from_below(project: Path) -> None:
    (project / "deep" / "er").mkdir(parents=True)
    assert detect(project / "deep" / "er") == ("git", str(project))


def test_detect_nothing(tmp_path: Path) -> None:
    assert detect(tmp_path) == ("none", None)


def test_detect_without_tools(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert detect(project) == ("none", None)
    assert registry["vcs.detect"].run({"cwd": str(project)})["available"] == {"jj": False, "git": False}


@pytest.mark.parametrize("place", [".", "deep"])
def test_detect_jj(jj: Path, place: str) -> None:
    (jj / "deep").mkdir()
    assert detect(jj / place) == ("jj", str(jj))
    assert registry["vcs.detect"].run({"cwd": str(jj)})["available"] == {"jj": True, "git": True}


def test_detect_jj_beside_git(jj: Path) -> None:
    git(jj, "init", "--quiet")
    assert detect(jj) == ("jj", str(jj))


def test_detect_git_inside_of_jj(jj: Path) -> None:
    (jj / "inner").mkdir()
    git(jj / "inner", "init", "--quiet")
    assert detect(jj / "inner") == ("git", str(jj / "inner"))


def test_detect_jj_inside_of_git(project: Path) -> None:
    (project / "inner" / ".jj").mkdir(parents=True)
    assert detect(project / "inner") == ("jj", str(project / "inner"))


def test_detect_says_what_git_says(project: Path) -> None:
    write(project / ".git" / "config", "[core\n")
    with pytest.raises(UtilityError, match=r"git cannot tell the root of .*bad config"):
        detect(project)


def test_commit_what_changed(project: Path) -> None:
    write(project / "kept", "2")
    write(project / "deep" / "new", "1")
    result = checkpoint(project / "deep", params={"message": "feat: all"}, item={"title": "other"})
    assert result == {
        "kind": "git",
        "committed": True,
        "revision": git(project, "rev-parse", "HEAD"),
        "message": "feat: all",
        "satisfied": True,
        "context": "committed 'feat: all'",
    }
    assert committed(project) == ["deep/new", "kept"]
    assert git(project, "status", "--porcelain") == ""


def test_a_clean_tree_is_satisfied(project: Path) -> None:
    result = checkpoint(project)
    assert (result["satisfied"], result["committed"], result["revision"]) == (True, False, None)
    assert messages(project) == ["first"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param({"item": {"title": "fix: it", "context": "c"}}, "fix: it", id="title"),
        pytest.param({"item": None}, "chore: checkpoint", id="no-item"),
        pytest.param({"item": {"title": " "}}, "chore: checkpoint", id="blank-title"),
        pytest.param({"item": "text"}, "chore: checkpoint", id="text"),
        pytest.param({"params": {"message": "--amend"}}, "--amend", id="dashes"),
        pytest.param({"params": {"message": "# no comment"}}, "# no comment", id="hash"),
    ],
)
def test_the_message(call: dict[str, Any], message: str, project: Path) -> None:
    write(project / "new", "1")
    assert checkpoint(project, **call)["message"] == message
    assert messages(project) == [message, "first"]


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (1, "the commit message is a number, expected a text"),
        (" ", "the commit message is blank"),
        ("a\0b", "the commit message has a NUL character in it"),
    ],
)
def test_a_bad_message(message: Any, fault: str, project: Path) -> None:
    with pytest.raises(UtilityError) as caught:
        checkpoint(project, params={"message": message})
    assert str(caught.value) == fault


def test_a_first_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert checkpoint(tmp_path)["committed"] is False
    write(tmp_path / "new", "1")
    assert checkpoint(tmp_path)["committed"] is True


def test_no_repository(tmp_path: Path) -> None:
    result = checkpoint(tmp_path)
    assert (result["satisfied"], result["kind"], result["committed"]) == (True, "none", False)
    assert result["context"] == f"nothing is committed: no jj or git repository around '{tmp_path}'"


def test_no_identity(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        for part in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{role}_{part}")
    git(project, "config", "user.useConfigOnly", "true")
    write(project / "new", "1")
    result = checkpoint(project)
    assert result["satisfied"] is False
    assert result["context"].startswith("nothing is committed: git commit failed: ")
    assert "identity" in result["context"]


def test_a_hook_that_refuses(project: Path) -> None:
    write(project / ".git" / "hooks" / "pre-commit", "#!/bin/sh\necho not on a Friday >&2\nexit 1\n").chmod(
        0o755
    )
    write(project / "new", "1")
    result = checkpoint(project)
    assert (result["satisfied"], result["revision"]) == (False, None)
    assert result["context"] == "nothing is committed: git commit failed: not on a Friday"
    assert messages(project) == ["first"]


def conflict(project: Path) -> None:
    """Change one line on two branches, and merge them."""
    git(project, "checkout", "--quiet", "-b", "other")
    for branch in ("other", "main"):
        git(project, "checkout", "--quiet", branch)
        write(project / "kept", branch)
        git(project, "commit", "--quiet", "--all", f"--message={branch}")
    subprocess.run(["git", "merge", "other"], cwd=project, check=False, capture_output=True)


@pytest.mark.parametrize("solved", [False, True])
def test_a_merge_under_way(project: Path, solved: bool) -> None:
    conflict(project)
    if solved:
        git(project, "add", "kept")
    before = git(project, "status", "--porcelain")
    result = checkpoint(project)
    assert result["satisfied"] is False
    assert result["context"] == f"nothing is committed: a merge is under way in '{project}'"
    assert git(project, "status", "--porcelain") == before


def test_conflicts_without_a_merge(project: Path) -> None:
    write(project / "kept", "2")
    git(project, "stash")
    write(project / "kept", "3")
    git(project, "commit", "--quiet", "--all", "--message=3")
    subprocess.run(["git", "stash", "pop"], cwd=project, check=False, capture_output=True)
    assert "conflicting files is under way" in checkpoint(project)["context"]
    assert messages(project) == ["3", "first"]


def test_a_detached_head(project: Path) -> None:
    git(project, "checkout", "--quiet", "--detach")
    write(project / "new", "1")
    result = checkpoint(project, params={"message": "m"})
    assert (result["satisfied"], result["context"]) == (True, "committed 'm', on no branch: HEAD is detached")


CASTS = ".materia/casts"


@pytest.mark.parametrize(
    "ignored",
    [
        pytest.param(None, id="not-ignored"),
        pytest.param(".materia/", id="ignored"),
        pytest.param(".materia/casts/one", id="one-ignored"),
    ],
)
def test_casts_are_never_committed(ignored: str | None, project: Path) -> None:
    write(project / CASTS / "one" / "events.jsonl", "{}")
    write(project / CASTS / "two" / "events.jsonl", "{}")
    write(project / ".materia" / "loadout.json", "{}")
    if ignored is not None:
        write(project / ".gitignore", f"{ignored}\n")
    write(project / "kept", "2")
    result = checkpoint(project, runDir=f"{project}/{CASTS}/one")
    assert (result["satisfied"], result["committed"]) == (True, True)
    expected = {None: [".materia/loadout.json"], ".materia/": [".gitignore"]}
    assert committed(project) == [*expected.get(ignored, [".gitignore", ".materia/loadout.json"]), "kept"]
    assert checkpoint(project, runDir=f"{project}/{CASTS}/one")["context"] == "nothing to commit"


def test_the_content_of_casts_does_not_reach_the_store_of_git(project: Path) -> None:
    write(project / "kept", "2")
    journal = write(project / CASTS / "one" / "events.jsonl", "a journal")
    checkpoint(project, runDir=f"{project}/{CASTS}/one")
    name = git(project, "hash-object", str(journal))
    found = subprocess.run(["git", "cat-file", "-e", name], cwd=project, check=False, capture_output=True)
    assert found.returncode != 0


def test_casts_that_are_staged_or_tracked_are_not_committed(project: Path) -> None:
    write(project / CASTS / "old", "1")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "--message=second")
    write(project / CASTS / "old", "2")
    write(project / CASTS / "one" / "f", "1")
    git(project, "add", "--all")
    assert checkpoint(project, runDir=f"{CASTS}/one")["committed"] is False
    assert messages(project) == ["second", "first"]


@pytest.mark.parametrize(
    ("run_dir", "cwd", "files"),
    [
        pytest.param("{project}/one", ".", ["two/f"], id="casts-beside-the-project"),
        pytest.param("{project}/one", "two", ["two/f"], id="casts-above-the-project"),
        pytest.param("{project}/two/one", "two", ["one/f", "two/f"], id="casts-in-the-project"),
        pytest.param("/elsewhere/one", ".", ["one/f", "two/f"], id="outside"),
        pytest.param("{project}", ".", ["one/f", "two/f"], id="the-project-itself"),
        pytest.param("", ".", ["one/f", "two/f"], id="by-hand"),
    ],
)
def test_the_project_is_committed_wherever_casts_are(
    run_dir: str, cwd: str, files: list[str], project: Path
) -> None:
    write(project / "one" / "f", "1")
    write(project / "two" / "f", "1")
    result = checkpoint(project / cwd, runDir=run_dir.format(project=project))
    assert result["committed"] is True
    assert committed(project) == files


def test_jj_describes_and_begins_anew(jj: Path) -> None:
    write(jj / ".jj" / "changes", "A new\n")
    assert checkpoint(jj, params={"message": "feat: all\n\nbody"}) == {
        "kind": "jj",
        "committed": True,
        "revision": "abc123",
        "message": "feat: all\n\nbody",
        "satisfied": True,
        "context": "committed 'feat: all'",
    }
    log = (jj / ".jj" / "log").read_text(encoding="utf-8")
    assert "\ndescribe --message=feat: all\n\nbody\nnew\n" in log
    assert checkpoint(jj)["context"] == "nothing to commit"
    assert (jj / ".jj" / "log").read_text(encoding="utf-8").count("describe") == 1


def test_jj_does_not_take_the_casts(jj: Path) -> None:
    write(jj / ".jj" / "changes", "A new\n")
    write(jj / CASTS / "one" / "f", "1")
    assert checkpoint(jj, runDir=f"{jj}/{CASTS}/one")["committed"] is True
    assert (jj / CASTS / ".gitignore").read_text(encoding="utf-8") == "*\n"
    log = (jj / ".jj" / "log").read_text(encoding="utf-8")
    assert log.index(f'file untrack root:"{CASTS}"') < log.index("describe")


def test_jj_that_fails(jj: Path) -> None:
    write(jj / ".jj" / "broken", "")
    result = checkpoint(jj)
    assert (result["satisfied"], result["kind"]) == (False, "jj")
    assert result["context"] == "nothing is committed: jj diff failed: Error: it is broken"


def test_a_jj_repository_without_jj(tmp_path: Path) -> None:
    (tmp_path / ".jj").mkdir()
    result = checkpoint(tmp_path)
    assert (result["satisfied"], result["kind"]) == (False, "jj")
    assert result["context"].endswith("is a jj repository and jj is not on the PATH")
