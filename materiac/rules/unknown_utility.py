"""`unknown-utility`: a utility or a script by a name that nothing ships under."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from materiac.diagnostic import Finding, Severity
from materiac.fixes import renamed
from materiac.names import suggestion
from materiac.rules.rule import FileView, Rule, Stage
from materiac.shipped import BUILTIN_WRITES, SCRIPTS, UNBUILT
from materiac.source import Pointer


def check_file(file: FileView) -> Iterator[Finding]:
    for name, materia in file.utilities():
        at: Pointer = ("materia", name)
        asked = materia.utility
        if asked is not None and asked not in BUILTIN_WRITES:
            words = f"utility '{asked}' of materia '{name}'"
            yield _finding(words, asked, (*at, "utility"), BUILTIN_WRITES.keys(), unbuilt=asked in UNBUILT)
        if materia.script is not None and SCRIPTS.get(materia.script.name) is None:
            script = materia.script.name
            words = f"script '{script}' of materia '{name}'"
            yield _finding(words, script, (*at, "script", "name"), SCRIPTS.keys(), unbuilt=script in SCRIPTS)


def _finding(words: str, asked: str, at: Pointer, known: Collection[str], *, unbuilt: bool) -> Finding:
    if unbuilt:
        late = "is known but not built yet: a cast that comes to it fails"
        return RULE.finding(f"{words} {late}", at, severity=Severity.WARNING)
    names = ", ".join(known)
    advice = suggestion(asked, known) or f"there are {names}"
    return RULE.finding(f"{words} is unknown", at, help=advice, fix=renamed(asked, known, at))


RULE = Rule(
    "unknown-utility",
    Severity.ERROR,
    "a built-in utility or script is named that is not there",
    Stage.NAMES,
    check_file=check_file,
)
