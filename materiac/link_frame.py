"""What one file says of budgets, limits and surroundings, made of what several files say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_FIRST: Final = ("artifactDir", "agents", "recovery", "eventing")
_GREATEST: Final = (
    ("limits", "maxNoAdvanceCycles", 3),
    ("limits", "maxAnswerBytes", 64 * 1024**2),
    ("limits", "maxPromptBytes", 16 * 1024**2),
    ("limits", "maxItems", 100_000),
    ("limits", "maxJournalBytes", 4 * 1024**3),
    ("parallelism", "maxConcurrency", 2),
)
"""Counts of which the greatest is taken, with what they are where a file does not say."""
_SUMMED: Final = ("maxTokens", "maxCostUsd")

Fields = dict[str, Any]
Called = Sequence[tuple[str, Mapping[str, Any]]]
"""The frames, each with what its file is called."""


def joined(frames: Called) -> tuple[Fields, list[str]]:
    """One frame, and in words what had to be left out."""
    frame: Fields = {}
    notes: list[str] = []
    budget = _budget(frames, notes)
    if budget:
        frame["budget"] = budget
    for key in _FIRST:
        said = [(called, part[key]) for called, part in frames if part.get(key)]
        if said:
            frame[key] = said[0][1]
        others = [called for called, value in said if value != frame[key]]
        notes += [f"'{key}' is that of '{said[0][0]}', not that of '{other}'" for other in others]
    for key, limit, default in _GREATEST:
        values = [part.get(key, {}).get(limit) for _, part in frames]
        if any(value is not None for value in values):
            greatest = max(default if value is None else value for value in values)
            frame[key] = {**frame.get(key, {}), limit: greatest}
    return frame, notes


def _budget(frames: Called, notes: list[str]) -> Fields:
    """Limits that every part has, added up; one that a part lacks bounds nothing of the whole."""
    budgets = [part.get("budget", {}) for _, part in frames]
    summed: Fields = {}
    for key in _SUMMED:
        values = [budget.get(key) for budget in budgets]
        if all(value is not None for value in values):
            summed[key] = sum(values)
        elif any(value is not None for value in values):
            without = frames[values.index(None)][0]
            notes.append(f"there is no '{key}': '{without}' has none")
    first: Fields = next((budget for budget in budgets if budget), {})
    rest = {key: value for key, value in first.items() if key not in _SUMMED}
    return {**summed, **rest} if summed else {}
