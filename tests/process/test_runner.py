"""The runner, with real commands: what comes out, what goes in, and that nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from materiac.process import Completed, StartError, StoppedError, run
from materiac.process.descendants import MARK

ENV = {name: value for name, value in os.environ.items() if name != MARK}
DEAF = "trap '' TERM; "
# A tree writes the numbers of its processes here, one a line.
NOTE = "echo $$ >> pids; "


def start(
    command: Sequence[str],
    cwd: Path,
    *,
    stdin: bytes = b"",
    env: Mapping[str, str] = ENV,
    timeout_s: float = 30,
    max_bytes: int = 1 << 20,
    max_stderr_bytes: int | None = None,
    stop: threading.Event | None = None,
) -> Completed:
    return run(
        command,
        stdin=stdin,
        cwd=cwd,
        env=env,
        timeout_s=timeout_s,
        max_bytes=max_bytes,
        max_stderr_bytes=max_stderr_bytes,
        stop=stop,
    )


def python(text: str) -> list[str]:
    return [sys.executable, "-S", "-c", text]


def runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def noted(folder: Path) -> list[int]:
    file = folder / "pids"
    return [int(line) for line in file.read_text(encoding="utf-8").split()] if file.exists() else []


def left(folder: Path) -> list[int]:
    return [pid for pid in noted(folder) if runs(pid)]


@pytest.mark.parametrize(
    ("command", "code", "died", "out", "err"),
    [
        pytest.param(["true"], 0, None, b"", b"", id="nothing"),
        pytest.param(["sh", "-c", "echo out; echo err >&2; exit 3"], 3, None, b"out\n", b"err\n", id="code"),
        pytest.param(["sh", "-c", "echo out; kill -9 $$"], None, 9, b"out\n", b"", id="signal"),
        pytest.param(
            ["sh", "-c", "cat; pwd >&2; echo $# '$HOME'"], 0, None, b"in0 $HOME\n", None, id="no-shell"
        ),
    ],
)
def test_what_comes_of_a_command(
    command: list[str], code: int | None, died: int | None, out: bytes, err: bytes | None, tmp_path: Path
) -> None:
    done = start(command, tmp_path, stdin=b"in")
    expected_err = f"{tmp_path}\n".encode() if err is None else err
    assert (done.code, done.signal, done.stdout, done.stderr) == (code, died, out, expected_err)
    assert (done.stdout_bytes, done.stderr_bytes) == (len(out), len(expected_err))
    assert not done.timed_out
    assert 0 < done.seconds < 30


FLOODS = {
    "one after the other": "import sys; sys.stdout.write('o' * 10**7); sys.stderr.write('e' * 10**7)",
    "by turns": "import os\nfor _ in range(10**4): os.write(1, b'o' * 1000); os.write(2, b'e' * 1000)",
    "at once": "import os; n, text = (1, b'o') if os.fork() else (2, b'e')\n"
    "for _ in range(10**4): os.write(n, text * 1000)\nif n == 1: os.wait()",
}
RUN_FLOOD = (
    "import os, resource, sys, time; from pathlib import Path; from materiac.process import run\n"
    "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
    "def go(text, stdin, limit): return run([sys.executable, '-S', '-c', text], stdin=stdin, cwd=Path(),"
    " env=os.environ, timeout_s=60, max_bytes=limit)\n"
    "limit = int(sys.argv[2]); stdin = b'i' * 5_000_000; go('', b'', 9)\n"
    "before, began = peak(), time.monotonic(); done = go(sys.argv[1], stdin, limit)\n"
    "assert done.stdout == b'o' * min(limit, 10**7) and done.stderr == b'e' * min(limit, 10**7), 'kept'\n"
    "assert (done.code, done.stdout_bytes, done.stderr_bytes) == (0, 10**7, 10**7), 'all'\n"
    "print(peak() - before, time.monotonic() - began)"
)


@pytest.mark.parametrize("limit", [1000, 1 << 20, 1 << 26])
@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS.keys())
def test_both_outputs_flow_while_the_input_goes_unread(flood: str, limit: int, tmp_path: Path) -> None:
    words = [sys.executable, "-c", RUN_FLOOD, flood, str(limit)]
    ran = subprocess.run(words, cwd=tmp_path, stdout=subprocess.PIPE, check=True, timeout=60, text=True)
    growth_kb, seconds = map(float, ran.stdout.split())
    assert growth_kb < 50 * 1024
    assert seconds < 5


def test_all_the_input_arrives(tmp_path: Path) -> None:
    given = os.urandom(3_000_000)
    assert start(["cat"], tmp_path, stdin=given, max_bytes=len(given)).stdout == given


def test_stdout_keeps_its_beginning_and_stderr_its_end_from_a_whole_character(tmp_path: Path) -> None:
    text = "0123456789" + "é" * 10
    write = f"import sys; [f.buffer.write({text!r}.encode()) for f in (sys.stdout, sys.stderr)]"
    done = start(python(write), tmp_path, max_bytes=12, max_stderr_bytes=5)
    assert (done.stdout, done.stderr) == ("0123456789é".encode(), "éé".encode())
    assert (done.stdout_bytes, done.stderr_bytes) == (30, 30)


def test_all_of_stdout_is_heard_and_its_beginning_kept(tmp_path: Path) -> None:
    heard: list[bytes] = []
    done = run(
        ["seq", "100000"],
        stdin=b"",
        cwd=tmp_path,
        env=ENV,
        timeout_s=30,
        max_bytes=4,
        hear=heard.append,
    )
    assert done.stdout == b"1\n2\n"
    assert b"".join(heard) == b"".join(b"%d\n" % number for number in range(1, 100001))


def test_memory_is_bounded(tmp_path: Path) -> None:
    flood = (
        "import os, resource; from pathlib import Path; from materiac.process import run\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "def go(size): return run(['head', '-c', str(size), '/dev/zero'], stdin=b'', cwd=Path(),"
        " env=os.environ, timeout_s=60, max_bytes=1000).stdout_bytes\n"
        "go(1); before = peak(); assert go(200_000_000) == 200_000_000; print(peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", flood], cwd=tmp_path, capture_output=True, check=True)
    assert int(done.stdout) < 8 * 1024


@pytest.mark.parametrize(
    ("command", "message"),
    [
        pytest.param([], "the command is empty", id="empty"),
        pytest.param([""], "the command has an empty name", id="no-name"),
        pytest.param(["no-such-program"], "'no-such-program' is not on the PATH", id="unknown"),
        pytest.param(["bin/none"], "'bin/none' does not exist in '{cwd}'", id="no-file"),
        pytest.param(["./folder"], "'./folder' cannot be started: '{cwd}/folder' is a folder", id="folder"),
        pytest.param(["./plain"], "'./plain' cannot be started: '{cwd}/plain' is not executable", id="plain"),
        pytest.param(
            ["./lost"],
            "'./lost' cannot be started: the interpreter in the first line of '{cwd}/lost' does not exist",
            id="interpreter",
        ),
        pytest.param(
            ["./bare"],
            "'./bare' cannot be started: '{cwd}/bare' is no program; "
            "a script begins with a line like '#!/bin/sh'",
            id="no-program",
        ),
        pytest.param(["x" * 300], f"'{'x' * 300}' is not on the PATH", id="long"),
        pytest.param(["echo", "a\0b"], "an argument of 'echo' has a NUL byte in it", id="nul"),
        pytest.param(["ec\0ho"], "an argument of 'ec\\0ho' has a NUL byte in it", id="nul-name"),
    ],
)
def test_what_cannot_be_started(command: list[str], message: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "plain").write_text("#!/bin/sh\n", encoding="utf-8")
    for name, text in (("lost", "#!/no/such/shell\n"), ("bare", "echo\n")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    with pytest.raises(StartError) as caught:
        start(command, tmp_path)
    assert str(caught.value) == message.replace("{cwd}", str(tmp_path))


def test_a_bad_folder_or_environment(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StartError, match=r"the working folder '.*/none' does not exist"):
        start(["true"], tmp_path / "none")
    with pytest.raises(StartError, match=r"the working folder '.*/file' is no folder"):
        start(["true"], tmp_path / "file")
    with pytest.raises(StartError, match="'true' cannot be started: "):
        start(["true"], tmp_path, env={**ENV, "A": "b\0c"})


def test_commands_are_found_on_the_given_path_and_in_the_given_folder(tmp_path: Path) -> None:
    for folder in ("bin", "here"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "tool").write_text(f"#!/bin/sh\necho {folder}\n", encoding="utf-8")
        (tmp_path / folder / "tool").chmod(0o755)
    assert start(["tool"], tmp_path, env={"PATH": str(tmp_path / "bin")}).stdout == b"bin\n"
    assert start(["here/tool"], tmp_path).stdout == b"here\n"
    assert start(["./tool"], tmp_path / "here").stdout == b"here\n"


def test_the_environment_is_the_given_one_and_the_mark(tmp_path: Path) -> None:
    lines = start(["/usr/bin/env"], tmp_path, env={"A": "b"}).stdout.decode().split()
    assert sorted(line.partition("=")[0] for line in lines) == ["A", MARK]


BEGIN = """
import os, signal, time
def note(): os.write(os.open("pids", os.O_WRONLY | os.O_CREAT | os.O_APPEND), b"%d\\n" % os.getpid())
note()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
"""
# Fifty processes: deaf, and every other one in a session of its own.
BOMB = f"""{BEGIN}
for number in range(50):
    if os.fork() == 0:
        if number % 2: os.setsid()
        note(); break
time.sleep(60)
"""
# One that goes on as its own child, in a session of its own, fifty times; the others wait deaf for a while.
FLIGHT = f"""{BEGIN}
leader = os.getpid()
for _ in range(50):
    if os.fork():
        time.sleep(60 if os.getpid() == leader else 0); os._exit(0)
    os.setsid(); note(); time.sleep(0.03)
time.sleep(60)
"""


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(NOTE + "echo out; sleep 60", id="alone"),
        pytest.param(
            NOTE + DEAF + f"sh -c '{NOTE} while :; do sleep 1; done' & while :; do wait; done", id="deaf"
        ),
        pytest.param(NOTE + f"setsid sh -c '{NOTE} sleep 60' & wait", id="own-session"),
        pytest.param(
            NOTE + "setsid sh -c 'sleep 60 >/dev/null 2>&1 & echo $! >> pids'; sleep 60",
            id="orphan-in-a-session-of-its-own",
        ),
        pytest.param(
            NOTE + "env -i setsid sh -c 'echo $$ >> pids; sleep 60' >/dev/null 2>&1 & sleep 60",
            id="own-session-and-environment",
        ),
        pytest.param(
            NOTE
            + f"env -i setsid sh -c '{NOTE} trap \"\" TERM; while :; do sleep 1; done' >/dev/null & sleep 60",
            id="own-session-and-environment-and-deaf",
        ),
        pytest.param(
            NOTE + f"setsid sh -c '{NOTE} exec sleep 60' </dev/null >/dev/null 2>&1 & sleep 60",
            id="own-session-no-pipes",
        ),
        pytest.param(NOTE + "for i in $(seq 50); do sleep 60 & echo $! >> pids; done; wait", id="fifty"),
        pytest.param("echo $$ >> pids; kill -STOP $$", id="stands-still"),
    ],
)
def test_the_whole_tree_is_gone_soon_after_its_time(script: str, tmp_path: Path) -> None:
    check_end(["sh", "-c", script], tmp_path)


@pytest.mark.parametrize(("script", "least"), [(BOMB, 51), (FLIGHT, 5)], ids=["bomb", "flight"])
def test_fifty_processes_that_will_not_end_are_gone(script: str, least: int, tmp_path: Path) -> None:
    check_end(python(script), tmp_path, timeout_s=0.6)
    assert len(noted(tmp_path)) >= least
    with suppress(ChildProcessError):  # one that was never seen alive is not known to be ours
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def check_end(command: list[str], folder: Path, timeout_s: float = 0.3) -> None:
    done = start(command, folder, timeout_s=timeout_s)
    assert done.timed_out
    assert done.code is None or done.signal is None
    assert done.seconds < timeout_s + 2 + 1, "two seconds after the time, and one for a busy machine"
    assert left(folder) == []


def test_what_was_written_before_the_time_was_up_is_kept(tmp_path: Path) -> None:
    done = start(
        ["sh", "-c", "trap 'echo bye; exit 4' TERM; echo hello; sleep 60 & wait"], tmp_path, timeout_s=0.6
    )
    assert (done.timed_out, done.code, done.stdout) == (True, 4, b"hello\nbye\n")


@pytest.mark.parametrize(
    ("script", "ends"),
    [
        pytest.param("sleep 60 & echo $! >> pids; echo done", True, id="in-the-group"),
        pytest.param(f"setsid sh -c '{NOTE} exec sleep 60' & sleep 0.1; echo done", False, id="own-session"),
        pytest.param("yes & echo $! >> pids; echo done", True, id="that-floods"),
    ],
)
def test_what_a_command_leaves_behind_holds_nothing_up(script: str, ends: bool, tmp_path: Path) -> None:
    done = start(["sh", "-c", script], tmp_path)
    assert (done.code, done.timed_out) == (0, False)
    assert b"done\n" in done.stdout
    assert done.seconds < 20
    deadline = time.monotonic() + 10
    while ends and left(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.01)
    rest = left(tmp_path)
    for pid in rest:
        os.kill(pid, signal.SIGKILL)
    assert bool(rest) is not ends


def test_all_that_was_written_is_read_however_late(tmp_path: Path) -> None:
    late = start(["bash", "-c", "exec > >(sed s/in/out/); echo in"], tmp_path)
    assert late.stdout == b"out\n"


def test_an_interrupt_ends_the_tree(tmp_path: Path) -> None:
    text = (
        "import os; from pathlib import Path; from materiac.process import run\n"
        "try: run(['sh', '-c', 'echo $$ >> pids; setsid sleep 60 & echo $! >> pids; wait'], stdin=b'',"
        " cwd=Path(), env=os.environ, timeout_s=60, max_bytes=9)\n"
        "except KeyboardInterrupt: print('interrupted')"
    )
    process = subprocess.Popen([sys.executable, "-c", text], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while len(noted(tmp_path)) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.communicate(timeout=20)[0] == "interrupted\n"
    assert left(tmp_path) == []


def test_another_thread_can_stop_it(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(StoppedError):
        start(["sh", "-c", NOTE + "sleep 60"], tmp_path, stop=stop)
    assert left(tmp_path) == []


def test_a_timeout_leaves_the_commands_of_other_threads_alone(tmp_path: Path) -> None:
    others: list[Completed] = []
    script = "setsid sh -c 'sleep 0.8; echo child' & wait"
    thread = threading.Thread(target=lambda: others.append(start(["sh", "-c", script], tmp_path)))
    thread.start()
    assert start(["sh", "-c", "setsid sleep 60 & wait"], tmp_path, timeout_s=0.3).timed_out
    thread.join()
    assert (others[0].code, others[0].stdout) == (0, b"child\n")


def test_it_works_without_a_pidfd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    assert start(["sh", "-c", "cat; exit 5"], tmp_path, stdin=b"in").code == 5
    assert start(["sleep", "60"], tmp_path, timeout_s=0.2).timed_out


def test_no_descriptor_and_no_child_is_left(tmp_path: Path) -> None:
    def count() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    start(["true"], tmp_path)
    before = count()
    for _ in range(3):
        start(["true"], tmp_path)
        start(["sh", "-c", "sleep 60 & wait"], tmp_path, timeout_s=0.05)
    assert count() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
