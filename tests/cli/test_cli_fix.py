"""`materiac check --fix`: what is written, what is shown, and what is left alone."""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from materiac.cli import main

DEAD = """loadout L {
  entry a

  # as it was before
  a: M
    -> end
    -> a max 2
}

materia M   { prompt "x" }
"""
MENDED = DEAD.replace("    -> a max 2\n", "")
MISSPELT = DEAD.replace("-> end\n    -> a max 2", "-> ned")
SPELT = MISSPELT.replace("-> ned", "-> end")


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


def write(text: str | bytes, name: str = "x.materia") -> Path:
    path = Path(name)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def exit_code(*words: str) -> int:
    try:
        return main(words)
    except SystemExit as usage:
        return int(usage.code or 0)


@pytest.mark.parametrize(
    ("text", "options", "expected", "code"),
    [
        pytest.param(DEAD, [], MENDED, 0, id="safe"),
        pytest.param(DEAD, ["--unsafe"], MENDED, 0, id="safe, and unsafe ones are allowed"),
        pytest.param(MISSPELT, [], MISSPELT, 1, id="unsafe"),
        pytest.param(MISSPELT, ["--unsafe"], SPELT, 0, id="unsafe, and allowed"),
        pytest.param(SPELT, ["--strict"], SPELT, 0, id="nothing to fix"),
        pytest.param("loadout", [], "loadout", 1, id="no sound text"),
        pytest.param(DEAD.replace("\n", "\r\n"), [], MENDED.replace("\n", "\r\n"), 0, id="CRLF"),
        pytest.param("\ufeff" + DEAD, [], "\ufeff" + MENDED, 0, id="byte-order mark"),
        pytest.param(DEAD.rstrip(), [], MENDED.rstrip(), 0, id="no line break at the end"),
        pytest.param(
            DEAD.replace('"x"', '"🙂 é"'), [], MENDED.replace('"x"', '"🙂 é"'), 0, id="wide characters"
        ),
    ],
)
def test_what_is_written(text: str, options: list[str], expected: str, code: int) -> None:
    path = write(text)
    assert main(["check", "--fix", *options, str(path)]) == code
    assert path.read_bytes() == expected.encode()


def test_what_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    main(["check", "--fix", str(write(DEAD))])
    assert capsys.readouterr() == ("no findings\n", "materiac: 'x.materia': 1 fixed\n")


def test_rights_and_links_stay() -> None:
    path = write(DEAD, "real.materia")
    path.chmod(0o640)
    Path("x.materia").symlink_to("real.materia")
    assert main(["check", "--fix", "x.materia"]) == 0
    assert Path("x.materia").is_symlink()
    assert path.read_text(encoding="utf-8") == MENDED
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_needs_no_fix_is_not_written() -> None:
    path = write(SPELT)
    os.utime(path, (1, 1))
    assert main(["check", "--fix", str(path)]) == 0
    assert path.stat().st_mtime == 1


def test_what_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(DEAD)
    if os.access(tmp_path, os.W_OK) and os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    tmp_path.chmod(0o500)
    assert main(["check", "--fix", str(path)]) == 2
    assert "cannot write" in capsys.readouterr().err


def test_nothing_is_said_to_be_fixed_that_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(DEAD)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        assert main(["check", "--fix", str(path)]) == 2
    finally:
        signal.signal(signal.SIGXFSZ, before)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_text(encoding="utf-8") == DEAD
    assert os.listdir(tmp_path) == ["x.materia"]  # noqa: PTH208
    assert capsys.readouterr().err == (
        "materiac: cannot write 'x.materia': File too large\nmateriac: 'x.materia' stays as it was\n"
    )


@pytest.mark.parametrize("options", [[], ["--unsafe"]], ids=["safe", "unsafe"])
def test_what_is_no_file_is_not_read(options: list[str]) -> None:
    """Reading a pipe that nobody writes to would wait for ever."""
    os.mkfifo("pipe")
    done = run_check("--fix", *options, "pipe")
    assert done.returncode == 2
    assert done.stderr == "materiac: 'pipe' is no regular file, which --fix could write to\n"


def test_dry_run_reads_a_pipe() -> None:
    done = run_check("--fix", "--dry-run", "/dev/stdin", given=DEAD)
    assert done.returncode == 0
    assert "-    -> a max 2" in done.stdout


def run_check(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "materiac"), "check", *words]
    return subprocess.run(command, input=given, capture_output=True, text=True, check=False, timeout=60)


SECRET = "sk-" + "a1B2c3D4e5F6g7H8i9J0kL"


def test_secrets_in_a_diff_are_masked(capsys: pytest.CaptureFixture[str]) -> None:
    """In the lines around a change too, and where the name of the secret stands in a line above."""
    text = DEAD.replace("# as it was before", f"# {SECRET}").replace('"x"', f'"x {SECRET}"')
    main(["check", "--fix", "--dry-run", str(write(text))])
    out, err = capsys.readouterr()
    assert SECRET not in out + err
    assert "   # sk-a***" in out
    assert "-    -> a max 2" in out
    assert err.startswith(
        "materiac: 'x.materia': 1 would be fixed\nmateriac: 'x.materia': secrets are masked"
    )


def test_secrets_that_a_name_far_off_tells_are_masked(capsys: pytest.CaptureFixture[str]) -> None:
    """Also where it is known that they stand there."""
    value = "aB3dE5fG7hJ9kL1m"
    known = {"ignore": [{"rule": "secret-literal", "reason": "r"}]}
    materia = {"utility": "noop", "params": {"apiKey": "VALUE"}, "timeoutMs": 9, "x-materiac": known}
    data = {"loadouts": {"L": {"sockets": {"a": {"materia": "M"}}}}, "materia": {"M": materia}}
    text = json.dumps(data, indent=1).replace('"VALUE"', "\n" * 4 + f'"{value}"')
    text = text.replace('"timeoutMs": 9', '"timeoutMs": 9, "central": 1')
    main(["check", "--fix", "--dry-run", str(write(text, "x.json"))])
    out, err = capsys.readouterr()
    assert "2 would be fixed" in err
    assert f'"{"*" * len(value)}"' in out
    assert value not in out + err


def test_a_change_within_what_is_masked_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    """The lines are those that change, though they look alike."""
    text = f'materia M {{\nprompt "{SECRET}"\n}}\n'
    assert main(["fmt", "--diff", str(write(text))]) == 0
    out, err = capsys.readouterr()
    assert SECRET not in out + err
    assert '-prompt "sk-a***' in out
    assert "secrets are masked" in err


def test_secrets_in_what_is_left_out_are_masked(capsys: pytest.CaptureFixture[str]) -> None:
    text = MISSPELT.replace("entry a", f'entry "{SECRET}"').replace("  a: M", f'  "{SECRET}": M')
    main(["check", "--fix", "--unsafe", str(write(text.replace("-> ned", f'-> "{SECRET}x"')))])
    err = capsys.readouterr().err
    assert "not fixed: unknown-target: write 'sk-a***" in err
    assert SECRET not in err


DIFF = """--- x.materia
+++ x.materia
@@ -4,7 +4,6 @@
   # as it was before
   a: M
     -> end
-    -> a max 2
 }
\x20
 materia M   { prompt "x" }
"""


def test_dry_run(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(DEAD)
    assert main(["check", "--fix", "--dry-run", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == DEAD
    assert capsys.readouterr() == (DIFF, "materiac: 'x.materia': 1 would be fixed\nno findings\n")


def test_dry_run_exits_as_for_what_would_be_left(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(MISSPELT)
    assert main(["check", "--fix", "--dry-run", str(path)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "error[unknown-target]" in err


@pytest.mark.parametrize(
    ("text", "options", "out", "code"),
    [
        pytest.param(DEAD, [], MENDED, 0, id="fixed"),
        pytest.param(SPELT, [], SPELT, 0, id="nothing to fix"),
        pytest.param("loadout L {", [], "loadout L {", 1, id="no sound text"),
        pytest.param(DEAD, ["--dry-run"], DIFF.replace("x.materia", "<stdin>"), 0, id="a diff"),
    ],
)
def test_standard_input(
    text: str,
    options: list[str],
    out: str,
    code: int,
    monkeypatch: pytest.MonkeyPatch,
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    assert main(["check", "--fix", *options, "-"]) == code
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == out.encode()


@pytest.mark.parametrize(
    "words",
    [["--unsafe"], ["--dry-run"], ["--fix", "-"]],
    ids=["unsafe alone", "dry run alone", "a file beside standard input"],
)
def test_wrong_use(words: list[str]) -> None:
    path = write(DEAD)
    assert exit_code("check", *words, str(path)) == 2
    assert path.read_text(encoding="utf-8") == DEAD


def test_a_fix_that_leads_to_a_fault_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    """The edge is meant to lead to `end`, but the nearest name is that of the socket itself."""
    text = (
        MISSPELT.replace("-> ned", "-> ask2").replace("entry a", "entry ask1").replace("  a: M", "  ask1: M")
    )
    path = write(text)
    assert main(["check", "--fix", "--unsafe", str(path)]) == 1
    assert path.read_text(encoding="utf-8") == text
    err = capsys.readouterr().err
    assert err.startswith(
        "materiac: 'x.materia': not fixed: unknown-target: write 'ask1': it would lead to error["
    )


def test_only_the_named_file_is_fixed() -> None:
    other = write(DEAD.replace("loadout L", "loadout M"), "other.materia")
    path = write('import "other.materia"\n' + DEAD)
    assert main(["check", "--fix", str(path)]) == 0
    assert path.read_text(encoding="utf-8") == 'import "other.materia"\n' + MENDED
    assert other.read_text(encoding="utf-8") == DEAD.replace("loadout L", "loadout M")


def test_many_fixes_at_once_in_json() -> None:
    edges = [{"to": "end"}] + [{"to": "a", "maxTraversals": number} for number in range(1, 40)]
    sockets = {"a": {"materia": "M", "edges": edges}, "b": {"materia": "M", "edges": [*edges]}}
    sockets["a"]["edges"] = [{"to": "b"}, *edges[1:]]
    data = {"loadouts": {"L": {"entry": "a", "sockets": sockets}}, "materia": {"M": {"prompt": "x"}}}
    path = write(json.dumps(data, indent=2), "x.json")
    assert main(["check", "--fix", "--strict", str(path)]) == 0
    for socket in sockets.values():
        del socket["edges"][1:]  # type: ignore[attr-defined]
    assert path.read_text(encoding="utf-8") == json.dumps(data, indent=2)
