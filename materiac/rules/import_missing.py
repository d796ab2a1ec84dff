"""`import-missing`: a file that is imported cannot be read."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("import-missing", Severity.ERROR, "a file that is imported cannot be read", Stage.SHAPE)
