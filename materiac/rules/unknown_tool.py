"""`unknown-tool`: a custom tool that agents here do not have."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.fixes import renamed
from materiac.names import suggestion
from materiac.rules.rule import FileView, Rule, Stage
from materiac.shipped import CODING_TOOLS


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.materia.items():
        if materia.type != "agent" or isinstance(materia.tools, str):
            continue
        for i, tool in enumerate(materia.tools.tools):
            if tool not in CODING_TOOLS:
                yield RULE.finding(
                    f"materia '{name}' asks for the tool '{tool}', which is unknown",
                    ("materia", name, "tools", "tools", i),
                    help=suggestion(tool, CODING_TOOLS) or f"there are {', '.join(CODING_TOOLS)}",
                    fix=renamed(tool, CODING_TOOLS, ("materia", name, "tools", "tools", i)),
                )


RULE = Rule(
    "unknown-tool",
    Severity.WARNING,
    "a custom tool is asked for that is unknown",
    Stage.NAMES,
    check_file=check_file,
)
