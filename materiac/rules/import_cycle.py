"""`import-cycle`: an import leads back to the file that it is in."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("import-cycle", Severity.ERROR, "an import leads back to the file that it is in", Stage.SHAPE)
