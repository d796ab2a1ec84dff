"""`import-outside`: an import leaves the project."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("import-outside", Severity.ERROR, "an import leaves the project", Stage.SHAPE)
