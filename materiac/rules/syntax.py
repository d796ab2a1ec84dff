"""`syntax`: the text is no JSON."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("syntax", Severity.ERROR, "the text is no JSON", Stage.SHAPE)
