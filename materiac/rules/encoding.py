"""`encoding`: the bytes are not UTF-8 text."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("encoding", Severity.ERROR, "the bytes are not UTF-8 text", Stage.SHAPE)
