"""Files that a file brings in: what it says about them, and what can be wrong with that.

Nothing is read here: whoever reads the files follows the imports, and says what came of each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from materiac.diagnostic import Finding, Related, Severity
from materiac.source import Document, Pointer

KEY: Final = "import"
CONTAINERS: Final = ("loadouts", "materia")


def imports(document: Document) -> list[tuple[str, Pointer]]:
    """The paths of the files that a document imports, as written, and where each is written."""
    paths = document.data.get(KEY) if isinstance(document.data, dict) else None
    entries = enumerate(paths) if isinstance(paths, list) else ()
    return [(path, (KEY, index)) for index, path in entries if isinstance(path, str) and path]


def without_imports(document: Document) -> tuple[Document, list[Finding]]:
    """A document without what it says about imports; findings where that is no list of paths."""
    if KEY not in document.data:
        return document, []
    paths = document.data[KEY]
    data = {key: value for key, value in document.data.items() if key != KEY}
    return dataclasses.replace(document, data=data), list(_misfits(paths))


def _misfits(paths: Any) -> Iterator[Finding]:
    if not isinstance(paths, list):
        yield _error("invalid-value", f"'{KEY}' is no list of paths", (KEY,))
        return
    for index, path in enumerate(paths):
        if not isinstance(path, str) or not path:
            yield _error("invalid-value", f"an entry of '{KEY}' is no path", (KEY, index))


def _error(rule: str, message: str, at: Pointer, advice: str | None = None) -> Finding:
    return Finding(rule, Severity.ERROR, message, at, help=advice)


def missing(path: str, why: str, at: Pointer) -> Finding:
    """The finding on an import that cannot be read."""
    return _error("import-missing", f"cannot read '{path}': {why}", at)


def outside(path: str, at: Pointer) -> Finding:
    """The finding on an import from outside of the project."""
    words = f"'{path}' lies outside of the project"
    return _error("import-outside", words, at, "'--allow-outside' allows it")


def cycle(names: Sequence[str], at: Pointer) -> Finding:
    """The finding on an import that leads back to the file that it is in; `names` go once around."""
    way = " -> ".join(f"'{name}'" for name in names)
    return _error("import-cycle", f"imports go in a circle: {way}", at)


def clashes(
    own: Any, brought: Sequence[tuple[Pointer, str, Mapping[Pointer, str]]], reached: Mapping[str, set[str]]
) -> Iterator[Finding]:
    """What two imports of a file both bring in, differently, and neither lies over the other.

    An import is its pointer, its path, and for each pointer to what it brings in the file that has it;
    `reached` has the files that lie below each file. What the importing file writes itself lies over all.
    """
    for (first, path, ours), (second, other, theirs) in combinations(brought, 2):
        for at in [at for at in ours if at in theirs]:
            container, name = str(at[0]), str(at[1])
            files = {ours[at], theirs[at]}
            ordered = any(one in reached.get(two, ()) for one in files for two in files)
            if len(files) == 1 or ordered or name in _object(_object(own).get(container)):
                continue
            what = "loadout" if container == "loadouts" else container
            message = f"{what} '{name}' comes from '{path}' and from '{other}'"
            related = (Related(first, f"'{path}' has it too"),)
            advice = "write it in this file, or import one of them"
            yield Finding("import-clash", Severity.ERROR, message, second, related, advice)


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def brought_in(document: Document) -> list[Pointer]:
    """The loadouts and materia of a document."""
    data = _object(document.data)
    return [(container, name) for container in CONTAINERS for name in _object(data.get(container))]
