"""`invalid-value`: a value of the wrong type, out of range, or missing."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule(
    "invalid-value", Severity.ERROR, "a value of the wrong type, out of range, or missing", Stage.SHAPE
)
