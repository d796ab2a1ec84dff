from __future__ import annotations

import itertools
import re
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from materiac.names import fault
from materiac.runtime.artifacts import ArtifactError
from materiac.runtime.cast_id import create, new

MOMENT = datetime(2031, 5, 4, 10, 20, 30, 123456, tzinfo=UTC)


def test_an_id_says_when_in_utc() -> None:
    assert new(MOMENT, "3f9a") == "20310504-102030-123456-3f9a"
    assert new(MOMENT.astimezone(timezone(timedelta(hours=9))), "3f9a") == "20310504-102030-123456-3f9a"


def test_ids_sort_by_time() -> None:
    steps = [timedelta(microseconds=1), timedelta(seconds=1), timedelta(days=1), timedelta(days=4000)]
    moments = [MOMENT, *(MOMENT + step for step in steps)]
    ids = [new(moment, token) for moment, token in zip(moments, "edcba", strict=True)]
    assert sorted(ids) == ids
    assert all(fault(cast_id, spaces=False) is None for cast_id in ids)


def test_a_cast_has_a_folder_of_its_own(tmp_path: Path) -> None:
    root = tmp_path / "a" / "casts"
    cast_id, folder = create(root)
    assert folder == root / cast_id
    assert re.fullmatch(r"\d{8}-\d{6}-\d{6}-[0-9a-f]{4}", cast_id)
    for made in (tmp_path / "a", root, folder):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


def test_an_id_that_is_taken_is_drawn_again(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").write_text("a file")
    assert create(tmp_path, iter(["one", "two", "three"]).__next__) == ("three", tmp_path / "three")


def test_a_draw_that_never_changes_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    with pytest.raises(ArtifactError, match="no new cast id is to be had in"):
        create(tmp_path, itertools.repeat("one").__next__)


def test_many_processes_never_share_an_id(tmp_path: Path) -> None:
    """Every process draws the ids 0, 1, 2 …, so that each id is fought for."""
    program = (
        "import sys, itertools; from pathlib import Path; from materiac.runtime.cast_id import create\n"
        "draw = map(str, itertools.count()).__next__\n"
        "for _ in range(50): print(create(Path(sys.argv[1]), draw)[0])"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "casts")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    ids = [int(line) for process in running for line in process.communicate()[0].split()]
    assert sorted(ids) == list(range(200))


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ArtifactError, match=r"cannot make the folder '.*': Not a directory"):
        create(tmp_path / "file" / "casts")


def test_a_link_is_no_artifact_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(ArtifactError, match=r"'.*link' is a symbolic link"):
        create(tmp_path / "link")
    assert list((tmp_path / "real").iterdir()) == []
