"""`unknown-loadout`: a loadout is chosen that is not there."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("unknown-loadout", Severity.ERROR, "a loadout is chosen that is not there", Stage.NAMES)
