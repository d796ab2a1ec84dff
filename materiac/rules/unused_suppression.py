"""`unused-suppression`: a suppression that suppresses nothing; found where suppressions are applied."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule(
    "unused-suppression", Severity.WARNING, "a suppression that no finding needs any more", Stage.SHAPE
)
