"""`unkept-scope`: a materia is given to an agent that is not held to its tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import FileView, Rule, Stage
from materiac.rules.wording import listed
from materiac.shipped import BACK_ENDS, back_end_of
from materiac.source import Pointer

if TYPE_CHECKING:
    from materiac import model

_SHOWN = 8


def check_file(file: FileView) -> Iterator[Finding]:
    given: dict[Pointer, dict[str, str]] = {}
    for name, scope in _scopes(file):
        at = _chosen_at(file.frame.agents, name, scope)
        if at is not None:
            given.setdefault(at, {})[name] = scope
    for at, spec in file.agents():
        unkept = {name: scope for name, scope in given.get(at, {}).items() if not _keeps(spec, scope)}
        if unkept:
            yield _finding(at, spec, unkept)


def _scopes(file: FileView) -> Iterator[tuple[str, str]]:
    """The materia that agents do, each with its tool scope."""
    for name, materia in file.materia.items():
        if materia.type == "agent":
            yield name, materia.tools if isinstance(materia.tools, str) else "custom"


def _chosen_at(agents: model.Agents, materia: str, scope: str) -> Pointer | None:
    """Where it is said who answers for a materia."""
    if materia in agents.materia:
        return "agents", "materia", materia
    if scope in agents.by_scope():
        return "agents", "scopes", scope
    return None if agents.default is None else ("agents", "default")


def _keeps(spec: str, scope: str) -> bool:
    back_end = BACK_ENDS.get(back_end_of(spec))
    return back_end is None or back_end.scopes is None or scope in back_end.scopes


def _finding(at: Pointer, spec: str, unkept: dict[str, str]) -> Finding:
    first = list(unkept.items())[:_SHOWN]
    return RULE.finding(
        f"the agent '{back_end_of(spec)}' is not held to the tools of {listed(list(unkept))}",
        at,
        related=[(("materia", name, "tools"), f"its tools are '{scope}'") for name, scope in first],
        help="`materiac agents` shows which agents are held to which tools",
    )


RULE = Rule(
    "unkept-scope",
    Severity.WARNING,
    "a materia is given to an agent that is not held to its tools",
    Stage.NAMES,
    check_file=check_file,
)
