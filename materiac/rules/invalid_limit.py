"""`invalid-limit`: a limit that is no number above its least value."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("invalid-limit", Severity.ERROR, "a limit that is no number above its least value", Stage.SHAPE)
