"""A disk that is full or broken, at every write of a cast."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from points import Act, Point, acting
from world import SAMPLES, Json, Sample, cast_folder, differences, look, proceed, ran_twice

from materiac.runtime.artifacts import ArtifactError
from materiac.runtime.journal import JournalError
from materiac.runtime.rebuild import rebuild
from materiac.runtime.replay import replay

READERS = {"manifest.json", "usage.json"}
"""What a cast can do without: it is made from the journal."""


class Broken:
    """Fails at one point, or at all from there on; `hit` are those where it did."""

    def __init__(self, n: int, number: int, *, lasting: bool) -> None:
        self._n, self._number, self._lasting = n, number, lasting
        self.hit: list[Point] = []

    def __call__(self, point: Point) -> None:
        if not _can_fail(point):
            return
        if point.n == self._n or (self._lasting and point.n > self._n):
            self.hit.append(point)
            raise OSError(self._number, os.strerror(self._number), point.path)


def _can_fail(point: Point) -> bool:
    return point.when != "after" and point.call != "unlink"


def meet(sample: Sample, cwd: Path, act: Act) -> str | None:
    """Proceed with what befalls it; gives the error that ended it. Any that is not named fails the test."""
    try:
        with acting(act):
            proceed(sample, cwd)
    except (ArtifactError, JournalError) as error:
        return str(error)
    return None


def check(sample: Sample, root: Path, number: int, points: slice, *, lasting: bool) -> int:
    """How many casts met their fault; all of them could go on when it was gone."""
    whole, all_points = root / "whole", list[Point]()
    whole.mkdir()
    assert meet(sample, whole, all_points.append) is None
    wanted, count = look(whole), 0
    for point in [point for point in all_points if _can_fail(point)][points]:
        cwd = root / "cast"
        shutil.rmtree(cwd, ignore_errors=True)
        cwd.mkdir()
        fault = Broken(point.n, number, lasting=lasting)
        error = meet(sample, cwd, fault)
        _is_named(error, fault.hit)
        assert meet(sample, cwd, lambda _: None) is None, point
        _is_whole(cwd, point, wanted)
        assert ran_twice(cwd, whole, sample.width) == [], point
        count += bool(fault.hit)
    return count


def _is_named(error: str | None, hit: list[Point]) -> None:
    names = {file_of(point) for point in hit}
    if error is None:
        assert names <= READERS, hit
    else:
        assert any(name in error for name in names), (hit[0], error)


def _is_whole(cwd: Path, point: Point, wanted: Json) -> None:
    folder = cast_folder(cwd)
    assert folder is not None
    rebuild(folder)  # a reader that could not write has given up
    assert replay(folder).status == "complete", point
    assert differences(wanted, look(cwd)) == [], point


def file_of(point: Point) -> str:
    """The name of the file that a person would look for."""
    name = Path(point.path).name
    return name.removeprefix(".").removesuffix(".tmp") if name.endswith(".tmp") else name


NUMBERS = pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO], ids=errno.errorcode.get)
MODES = pytest.mark.parametrize("lasting", [False, True], ids=["once", "for good"])


@NUMBERS
@MODES
def test_some_writes_fail(number: int, lasting: bool, tmp_path: Path) -> None:
    points = slice(number % 7, None, 67)
    assert check(SAMPLES["long"], tmp_path, number, points, lasting=lasting) > 5


@pytest.mark.slow
@NUMBERS
@MODES
@pytest.mark.parametrize("sample", SAMPLES)
def test_many_writes_fail(sample: str, number: int, lasting: bool, tmp_path: Path) -> None:
    stride = 8 if sample == "long" else 53
    points = slice(number % 3 + 3 * lasting, None, stride)
    assert check(SAMPLES[sample], tmp_path, number, points, lasting=lasting) > 3
