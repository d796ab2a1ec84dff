"""`duplicate-key`: a key is written twice in one object."""

from __future__ import annotations

from materiac.diagnostic import Severity
from materiac.rules.rule import Rule, Stage

RULE = Rule("duplicate-key", Severity.ERROR, "a key is written twice in one object", Stage.SHAPE)
