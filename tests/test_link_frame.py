"""Frames of several files as one."""

from __future__ import annotations

import pytest

from materiac.link_frame import Fields, joined


@pytest.mark.parametrize(
    ("frames", "expected", "notes"),
    [
        pytest.param([{}, {}], {}, [], id="nothing"),
        pytest.param(
            [{"budget": {"maxTokens": 5, "warnAtPercent": 50}}, {"budget": {"maxTokens": 7}}],
            {"budget": {"maxTokens": 12, "warnAtPercent": 50}},
            [],
            id="budgets add up",
        ),
        pytest.param(
            [{"budget": {"maxTokens": 5}}, {}],
            {},
            ["there is no 'maxTokens': '1' has none"],
            id="a budget of one part bounds nothing",
        ),
        pytest.param(
            [{"limits": {"maxNoAdvanceCycles": 0}}, {"limits": {"maxNoAdvanceCycles": 2}}],
            {"limits": {"maxNoAdvanceCycles": 2}},
            [],
            id="the greatest limit",
        ),
        pytest.param(
            [{"limits": {"maxNoAdvanceCycles": 1}}, {}],
            {"limits": {"maxNoAdvanceCycles": 3}},
            [],
            id="a limit that is not said",
        ),
        pytest.param(
            [{"limits": {"maxItems": 7, "maxNoAdvanceCycles": 9}}, {"limits": {"maxJournalBytes": 5}}],
            {"limits": {"maxNoAdvanceCycles": 9, "maxItems": 100_000, "maxJournalBytes": 4 * 1024**3}},
            [],
            id="several limits",
        ),
        pytest.param(
            [{}, {"artifactDir": "a"}, {"artifactDir": "b"}],
            {"artifactDir": "a"},
            ["'artifactDir' is that of '1', not that of '2'"],
            id="the first folder",
        ),
    ],
)
def test_frames_are_joined(frames: list[Fields], expected: Fields, notes: list[str]) -> None:
    assert joined([(str(n), frame) for n, frame in enumerate(frames)]) == (expected, notes)
