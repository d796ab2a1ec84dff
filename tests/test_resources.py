from __future__ import annotations

from materiac.resources import folder


def test_folders_hold_what_ships() -> None:
    assert (folder("loadouts") / "full-auto.json").is_file()
    assert (folder("rules") / "never-ends.md").is_file()
