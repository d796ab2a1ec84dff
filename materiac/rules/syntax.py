"""`syntax`: the text cannot be read."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("syntax", Severity.ERROR, "the text cannot be read", Stage.SHAPE)
