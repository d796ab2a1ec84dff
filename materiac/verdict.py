"""Verdicts of outputs, and the conditions that ask for them."""

from __future__ import annotations

Verdict = bool | None
"""The `satisfied` of an output; None where it has none."""


def holds(when: str, verdict: Verdict) -> bool:
    """Whether a condition (always, satisfied, not_satisfied) holds for a verdict."""
    return when == "always" or verdict is (when == "satisfied")
