"""`small-budget`: a cast may take more than the budget, or than the call of `check` allows."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from materiac.diagnostic import Finding, Severity
from materiac.rules.rule import LoadoutView, Rule, Stage
from materiac.rules.wording import listed
from materiac.source import KEY, Pointer

if TYPE_CHECKING:
    from materiac import model
    from materiac.flow.bounds import Spent
    from materiac.flow.formula import Formula

_ADVICE: Final = "allow more than that: a cast that comes to its budget fails, unless it is over then"
_UNITS: Final = {"tokens": ("maxTokens", "tokens"), "usd": ("maxCostUsd", "US dollars")}


def check(view: LoadoutView) -> Iterator[Finding]:
    if view.file.allowed is not None:
        yield from _over_allowed(view)
    budget = view.file.frame.budget
    limits = {"tokens": budget.max_tokens, "usd": budget.max_cost_usd}
    if any(limits.values()) and any(agent.cost is not None for agent in _agents(view).values()):
        for spent in _spent(view):
            limit = limits.get(spent.unit)
            if limit is not None:
                yield from _funds(view, spent, limit)


def _agents(view: LoadoutView) -> dict[str, model.AgentMateria]:
    """The materia of agents, by name, in the order in which they are come to."""
    reached = (view.graph.sockets[node] for node in view.graph.reached if node in view.graph.sockets)
    materia = {socket.written.materia: socket.materia for socket in reached}
    return {name: it for name, it in materia.items() if it is not None and it.type == "agent"}


def _talks(view: LoadoutView) -> list[str]:
    """The sockets whose agents talk with a person."""
    sockets = (view.graph.sockets[node] for node in view.graph.reached if node in view.graph.sockets)
    return [socket.id for socket in sockets if getattr(socket.materia, "multi_turn", False)]


def _funds(view: LoadoutView, spent: Spent, limit: float) -> Iterator[Finding]:
    """How many items a budget pays for; nothing where that is any number of them."""
    key, unit = _UNITS[spent.unit]
    items = spent.most.most_items(limit)
    without = ", without the replies of a person" if _talks(view) else ""
    budget = f"the budget of {_shown(Fraction(str(limit)))} {unit}"
    related = [(("budget", key), "the budget")]
    if items == 0 and spent.most.grows:
        one = f"one takes up to {_shown(spent.most.at(1))}"
        words = f"{budget} pays for no item of '{view.graph.name}' in the worst case: {one}{without}"
        yield RULE.finding(words, _place(view), related=related, help=_ADVICE)
    elif items == 0:
        words = f"{budget} does not pay for every cast of '{view.graph.name}'"
        words += f": one takes up to {spent.most}{without}"
        yield RULE.finding(words, _place(view), related=related, help=_ADVICE)
    elif items is not None and not spent.unknown:
        number = f"{items} item{'' if items == 1 else 's'}"
        words = f"{budget} pays for {number} of '{view.graph.name}' in the worst case"
        words += f", which is {spent.most}{without}"
        yield RULE.finding(words, _place(view), related=related, severity=Severity.INFO)


def _over_allowed(view: LoadoutView) -> Iterator[Finding]:
    allowed = view.file.allowed
    if allowed is None:
        return
    talks = _talks(view)
    if talks:
        words = f"what a person says to {listed(talks)} is not counted: '{view.graph.name}' is held against "
        words += "what is allowed without the replies of a person, each of which takes a turn more"
        yield RULE.finding(words, _place(view))
    if allowed.turns is not None:
        from materiac.flow.bounds import totals  # noqa: PLC0415 - only where it is asked for

        turns = totals(view.graph, _cycles(view)).turns
        yield from _more(view, turns, allowed.turns, "agent turns")
    if allowed.usd is not None:
        spent = next((part for part in _spent(view) if part.unit == "usd"), None)
        unknown = spent.unknown if spent is not None else tuple(_agents(view))
        if unknown:
            words = f"what a cast of '{view.graph.name}' costs is not known: {listed(unknown)}"
            advice = "give each of these materia a 'cost' with 'usd'"
            yield RULE.finding(words, _place(view), severity=Severity.ERROR, help=advice)
        elif spent is not None:
            yield from _more(view, spent.most, allowed.usd, "US dollars")


def _more(view: LoadoutView, most: Formula, limit: Formula, unit: str) -> Iterator[Finding]:
    """A finding where a cast may take more than is allowed, of so many items or of any number."""
    items = view.file.allowed.items if view.file.allowed is not None else None
    first = most.first_over(limit)
    cast = f"a cast of '{view.graph.name}'"
    if items is not None and most.at(items) > limit.at(items):
        number = f"{items} item{'' if items == 1 else 's'}"
        takes, may = _shown(most.at(items)), _shown(limit.at(items))
        yield _beyond(view, f"with {number} {cast} takes up to {takes} {unit}, at most {may} are allowed")
    elif items is None and first is not None and most.grows:
        words = f"with N items {cast} takes up to {most} {unit}, at most {limit} are allowed"
        where = "whatever N is" if most.is_always_over(limit) else f"where N is {first}"
        yield _beyond(view, f"{words}: that is more {where}")
    elif items is None and first is not None:
        yield _beyond(view, f"{cast} takes up to {most} {unit}, at most {limit} are allowed")


def _beyond(view: LoadoutView, words: str) -> Finding:
    return RULE.finding(words, _place(view), severity=Severity.ERROR)


def _shown(number: int | Fraction) -> str:
    from materiac.flow.formula import shown  # noqa: PLC0415 - few loadouts have prices

    return shown(number)


def _spent(view: LoadoutView) -> tuple[Spent, ...]:
    from materiac.flow.bounds import spending  # noqa: PLC0415 - few loadouts have prices

    return spending(view.graph, _cycles(view))


def _cycles(view: LoadoutView) -> int:
    return view.file.frame.limits.max_no_advance_cycles


def _place(view: LoadoutView) -> Pointer:
    return (*view.graph.base, KEY)


RULE = Rule(
    "small-budget",
    Severity.WARNING,
    "in the worst case, the budget does not pay for one item",
    Stage.MEANING,
    check=check,
)
