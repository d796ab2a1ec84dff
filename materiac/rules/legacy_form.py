"""`legacy-form`: an early way of writing that has a successor."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("legacy-form", Severity.WARNING, "an early way of writing that has a successor", Stage.SHAPE)
