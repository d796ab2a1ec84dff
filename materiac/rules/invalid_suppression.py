"""`invalid-suppression`: a suppression that cannot count; found where suppressions are applied."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("invalid-suppression", Severity.WARNING, "a suppression that cannot count", Stage.SHAPE)
