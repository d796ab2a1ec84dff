"""Certificates: what was proved of the loadouts of a file, kept beside the hashes of their programs.

Whoever has one can refuse to run anything else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from materiac import __version__, rules
from materiac.diagnostic import Severity
from materiac.flow.bounds import bound
from materiac.properties import parse
from materiac.rules import broken_property, never_ends, stall_guard, unbounded_loop
from materiac.source import Pointer, Span

if TYPE_CHECKING:
    from materiac.diagnostic import Finding, Located
    from materiac.flow.bounds import Bound
    from materiac.graph import LoadoutGraph
    from materiac.program import Program

Json = dict[str, Any]

FORMAT: Final = 1
HOLDS, NOTED, FOUND, SUPPRESSED = "holds", "noted", "found", "suppressed"
PROVED, WATCHED = "proved", "watched"

_OF_CYCLES: Final = frozenset({unbounded_loop.RULE.name, stall_guard.RULE.name})
"""What is said of cycles, but of none that `never-ends` speaks of."""


class CertificateError(ValueError):
    """A text that is no certificate, or one of another format."""


def certificate(
    file: str,
    programs: Mapping[str, Program],
    graphs: Mapping[str, LoadoutGraph],
    findings: Sequence[Located],
    suppressed: Sequence[Located],
) -> Json:
    """What is known of the loadouts of a file, by name, in which nothing is an error."""
    return {
        "certificate": FORMAT,
        "materiac": __version__,
        "file": file,
        "loadouts": [
            _of_loadout(
                program,
                graphs[name],
                _concerning(graphs[name], findings),
                _concerning(graphs[name], suppressed),
            )
            for name, program in programs.items()
        ],
    }


def _concerning(graph: LoadoutGraph, found: Iterable[Located]) -> list[Finding]:
    """The findings in a loadout, and those that are in none."""
    findings = [part.finding for part in found]
    return [one for one in findings if isinstance(one.at, Span) or _is_in(graph, one.at)]


def _is_in(graph: LoadoutGraph, at: Pointer) -> bool:
    return at[: len(graph.base)] == graph.base or at[:1] != graph.base[:1]


def _of_loadout(
    program: Program, graph: LoadoutGraph, found: Sequence[Finding], suppressed: Sequence[Finding]
) -> Json:
    most = bound(graph, program.max_no_advance_cycles)
    doubted = {one.at for one in [*found, *suppressed] if one.rule == broken_property.RULE.name}
    return {
        "loadout": program.name,
        "program": program.digest(),
        "verdicts": dict(_verdicts(found, suppressed)),
        "bound": {key: value for key, value in most.as_data().items() if key != "loadout"},
        "properties": [
            {"property": str(parse(data)), "verdict": WATCHED if at in doubted else PROVED}
            for at, data in _properties(program, graph)
        ],
        "assumptions": list(_assumptions(program, most)),
    }


def _verdicts(found: Iterable[Finding], suppressed: Iterable[Finding]) -> Iterator[tuple[str, str]]:
    here, known = _worst(found), {one.rule for one in suppressed}
    if never_ends.RULE.name in known:
        known |= _OF_CYCLES
    for rule in rules.RULES:
        worst = here.get(rule.name)
        if worst is not None and worst > Severity.INFO:
            yield rule.name, FOUND
        elif rule.name in known:
            yield rule.name, SUPPRESSED
        else:
            yield rule.name, HOLDS if worst is None else NOTED


def _worst(found: Iterable[Finding]) -> dict[str, Severity]:
    """The highest severity of each rule that has found something."""
    here: dict[str, Severity] = {}
    for one in found:
        here[one.rule] = max(one.severity, here.get(one.rule, one.severity))
    return here


def _properties(program: Program, graph: LoadoutGraph) -> Iterator[tuple[Pointer, Json]]:
    for index, data in enumerate(program.properties):
        yield (*graph.base, "properties", index), data


def _assumptions(program: Program, most: Bound) -> Iterator[str]:
    yield "N is the most items that a list of the cast has, and no list grows for ever"
    yield "an agent whose answer cannot be used is asked once more in the same visit"
    yield "what is asked again because a program or a provider failed is not counted"
    yield f"the stall guard lets {program.max_no_advance_cycles} cycles without an advance pass"
    if most.talks:
        talks = ", ".join(f"'{socket}'" for socket in most.talks)
        yield f"each reply of a person takes a turn more: {talks}"
    if most.spent:
        yield "a turn costs no more than the 'cost' of its materia says"


def read(text: str) -> dict[str, str]:
    """The programs that a certificate is of: their hashes, and the names of their loadouts.

    Raises `CertificateError`.
    """
    try:
        data = json.loads(text)
        said = data["certificate"]
        if type(said) is not int or said != FORMAT:  # for Python, true is 1
            raise CertificateError(f"it has format {json.dumps(said)}, this version reads format {FORMAT}")
        return {_name(part["program"]): _name(part["loadout"]) for part in data["loadouts"]}
    except (ValueError, RecursionError) as error:
        reason = str(error) if isinstance(error, CertificateError) else "it is no JSON"
        raise CertificateError(reason) from error
    except (LookupError, TypeError) as error:
        raise CertificateError("it is no certificate") from error


def _name(said: Any) -> str:
    if not isinstance(said, str):
        raise TypeError(said)
    return said
