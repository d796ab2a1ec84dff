"""`unknown-key`: a key that means nothing here."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("unknown-key", Severity.ERROR, "a key that means nothing here", Stage.SHAPE)
