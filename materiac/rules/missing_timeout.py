"""`missing-timeout`: a command runs as long as the default lets it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Bilingual, Finding, Fix, Insertion, Severity
from materiac.rules.rule import FileView, Rule, Stage
from materiac.source import KEY

if TYPE_CHECKING:
    from materiac import model


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.utilities():
        unclear = ("materia", name, "timeoutMs") in file.dropped
        if _is_command(materia) and "timeout_ms" not in materia.model_fields_set and not unclear:
            default = materia.timeout_ms
            seconds = default // 1000
            yield RULE.finding(
                f"the command of materia '{name}' has no 'timeoutMs': it is stopped after {seconds} s",
                ("materia", name, "command", KEY),
                help=Bilingual(
                    f'say how long it may take, such as "timeoutMs": {default}',
                    f"say how long it may take, such as 'timeout {seconds}s'",
                ),
                fix=Fix(
                    "write down the default",
                    (Insertion(("materia", name), default, "timeoutMs"),),
                    safe=True,
                ),
            )


def _is_command(materia: model.UtilityMateria) -> bool:
    return materia.command is not None and materia.utility is None and materia.script is None


RULE = Rule(
    "missing-timeout",
    Severity.INFO,
    "a command does not say how long it may take",
    Stage.MEANING,
    check_file=check_file,
)
