"""`invalid-name`: a name that sockets, loadouts or materia cannot have."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule(
    "invalid-name", Severity.ERROR, "a name that sockets, loadouts or materia cannot have", Stage.SHAPE
)
