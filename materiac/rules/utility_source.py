"""`utility-source`: a utility says in no way, or in two, what program it is."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import FileView, Rule, Stage
from materiac.source import KEY


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.utilities():
        values = {"command": materia.command, "utility": materia.utility, "script": materia.script}
        said = [
            key
            for key, value in values.items()
            if value is not None or ("materia", name, key) in file.dropped
        ]
        if not said:
            yield RULE.finding(
                f"utility materia '{name}' has neither 'command' nor 'utility' nor 'script'",
                ("materia", name, KEY),
                help="say what it runs in one of the three",
            )
        for key in said[1:]:
            yield RULE.finding(
                f"utility materia '{name}' has '{said[0]}' and '{key}'",
                ("materia", name, key, KEY),
                related=[(("materia", name, said[0], KEY), "the other")],
                help="keep one of them",
            )


RULE = Rule(
    "utility-source",
    Severity.ERROR,
    "a utility has none or several of 'command', 'utility', 'script'",
    Stage.MEANING,
    check_file=check_file,
)
