"""Processes are found by their environment while they run, and not when they have ended."""

from __future__ import annotations

import os
import subprocess
import uuid

import pytest
from processes import marked, needs_proc, told, wait_none

pytestmark = needs_proc


def test_a_process_is_found_until_it_has_ended() -> None:
    mark = uuid.uuid4().hex
    with subprocess.Popen(["sleep", "60"], env={**os.environ, "MARK": mark}) as process:
        assert marked(mark) == [process.pid]
        assert told([process.pid]) == f"{process.pid}: sleep 60 "
        with pytest.raises(AssertionError, match="sleep 60"):
            wait_none(mark, 0.05)
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert marked(mark) == []  # it has ended, though nobody has reaped it yet
    wait_none(mark)
