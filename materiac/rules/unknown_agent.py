"""`unknown-agent`: an agent is named that materiac has no back end for."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.names import suggestion
from materiac.rules.rule import FileView, Rule, Stage
from materiac.shipped import BACK_ENDS, back_end_of


def check_file(file: FileView) -> Iterator[Finding]:
    for at, spec in file.agents():
        name = back_end_of(spec)
        if name not in BACK_ENDS:
            yield RULE.finding(
                f"there is no agent '{name}'",
                at,
                help=suggestion(name, BACK_ENDS) or f"there are {', '.join(BACK_ENDS)}",
            )


RULE = Rule(
    "unknown-agent",
    Severity.WARNING,
    "an agent is named that is not there",
    Stage.NAMES,
    check_file=check_file,
)
