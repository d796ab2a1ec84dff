"""`parallel-generator`: a materia is `parallel` that is no generator."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import FileView, Rule, Stage


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.materia.items():
        unclear = ("materia", name, "generator") in file.dropped
        if materia.parallel and not materia.generator and not unclear:
            yield RULE.finding(
                f"materia '{name}' is 'parallel' and no generator",
                ("materia", name, "parallel"),
                help="make it a 'generator', or remove 'parallel'",
            )


RULE = Rule(
    "parallel-generator",
    Severity.ERROR,
    "a materia is 'parallel' that is no generator",
    Stage.MEANING,
    check_file=check_file,
)
