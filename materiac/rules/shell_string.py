"""`shell-string`: a command that is one string and not a list."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("shell-string", Severity.ERROR, "a command that is one string and not a list", Stage.SHAPE)
