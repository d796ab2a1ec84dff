"""What `materiac diff --breaking` says of casts that have begun, `materiac resume` does."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from going import Going

SOCKETS = ("soap", "wash", "dry")


def write(desk: Going, *sockets: str, prompt: str = "Do it.") -> None:
    ways = [*sockets[1:], "end"]
    parts: dict[str, Any] = {
        id_: {"materia": "Agent", "edges": [{"to": to}]} for id_, to in zip(sockets, ways, strict=True)
    }
    desk.loadout(parts, {"Agent": {"prompt": prompt}})


@pytest.mark.parametrize(
    ("sockets", "prompt", "broken"),
    [
        pytest.param(SOCKETS, "Do it well.", [], id="prompt"),
        pytest.param(("rinse", *SOCKETS), "Do it.", [], id="one-more"),
        pytest.param(("soap", "wash"), "Do it.", ["dry"], id="last-gone"),
        pytest.param(("soap", "rinse", "dry"), "Do it.", ["wash"], id="another"),
        pytest.param(("dry",), "Do it.", ["soap", "wash"], id="two-gone"),
    ],
)
@pytest.mark.parametrize("at", SOCKETS)
def test_a_cast_that_stopped_there_is_refused_where_it_is_said(
    at: str,
    sockets: tuple[str, ...],
    prompt: str,
    broken: list[str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    desk = Going(tmp_path, capsys)
    write(desk, *SOCKETS)
    shutil.copy(tmp_path / "loadout.json", tmp_path / "old.json")
    desk.answers(**{at: [{"error": "down"}, "done"]})
    assert desk.begin().code == 1
    write(desk, *sockets, prompt=prompt)
    said = desk.go("diff", "--breaking", "old.json", "loadout.json")
    words = [f"the cast stands at '{id_}', which its new definition does not have" for id_ in broken]
    assert [line for line in said.out.splitlines() if line[0] == "!"] == [f"! resume: {w}" for w in words]
    assert said.code == bool(broken)
    resumed = desk.go("resume", "--retry", "--accept-change")
    if at in broken:
        assert (resumed.code, resumed.err) == (2, f"materiac: {words[broken.index(at)]}\n")
        assert desk.go("resume", "--retry", "--stored").code == 0
    else:
        assert resumed.code == 0
