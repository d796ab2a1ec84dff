"""`import-clash`: two imports bring in different things of one name."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("import-clash", Severity.ERROR, "two imports bring in different things of one name", Stage.SHAPE)
