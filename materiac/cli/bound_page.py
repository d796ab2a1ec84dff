"""A bound for people: the formulas, what each materia has of them, what they come from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from materiac.flow.formula import Formula, Number, shown

if TYPE_CHECKING:
    from materiac.flow.bounds import Bound
    from materiac.program import Budget

_UNITS: Final = {
    "inputTokens": "input tokens",
    "outputTokens": "output tokens",
    "tokens": "tokens",
    "usd": "US dollars",
}
_MANY: Final = 6
"""Of more sockets the first are named."""


class Funded(NamedTuple):
    """How many items a budget pays for in the worst case; None where that is any number.

    Nothing is known of the replies of a person.
    """

    unit: str
    items: int | None
    limit: Number


def render(bound: Bound, budget: Budget, items: int | None) -> str:
    """The page of a bound, without a line break at its end."""
    turns = f"{bound.loadout}: at most {_with_unit(bound.turns, 'agent turn')}"
    replies = ", and one for each reply of a person" if bound.talks else ""
    where = ", N being the most items of a list" if _grows(bound) else ""
    lines = [f"{turns}{replies}{where}", "", *_table(list(_rows(bound)), items)]
    notes = [*_replies(bound), *_cases(bound), *_unknown(bound), *_budget(bound, budget)]
    if notes:
        lines += ["", *notes]
    if bound.terms:
        lines += ["", "it comes from:", *(f"  {term.words}" for term in bound.terms)]
    return "\n".join(lines)


def funded(bound: Bound, budget: Budget) -> Iterator[Funded]:
    """How many items a budget pays for, for each of its limits that something is known of."""
    limits = {"tokens": budget.max_tokens, "usd": budget.max_cost_usd}
    for unit, limit in limits.items():
        spent = bound.spending(unit)
        if limit is not None and spent is not None and not spent.unknown:
            number = spent.most.most_items(limit)
            yield Funded(unit, number, limit if isinstance(limit, int) else Fraction(str(limit)))


def _grows(bound: Bound) -> bool:
    return any(formula.grows for formula in (bound.turns, bound.repairs, bound.runs))


def _with_unit(formula: Formula, unit: str) -> str:
    single = not formula.grows and formula.constant == 1
    return f"{formula} {unit}{'' if single else 's'}"


def _rows(bound: Bound) -> Iterator[tuple[str, Formula, str]]:
    yield "agent turns", bound.turns, ""
    if bound.repairs != Formula():
        yield "  repair turns", bound.repairs, "among them"
    yield from (_row(part.name, part.count, part.sockets) for part in bound.materia if part.kind == "agent")
    if bound.runs != Formula():
        yield "utility runs", bound.runs, ""
    yield from (_row(part.name, part.count, part.sockets) for part in bound.materia if part.kind != "agent")
    note = "without the replies of a person" if bound.talks else ""
    yield from ((_UNITS[spent.unit], spent.most, note) for spent in bound.spent)


def _row(name: str, formula: Formula, sockets: Sequence[str]) -> tuple[str, Formula, str]:
    named = ", ".join(f"'{socket}'" for socket in sockets[:_MANY])
    return f"  {name}", formula, f"{named} and {len(sockets) - _MANY} more" if len(sockets) > _MANY else named


def _table(rows: Sequence[tuple[str, Formula, str]], items: int | None) -> Iterator[str]:
    head = ["", "most", *([f"with {items} item{'' if items == 1 else 's'}"] if items is not None else []), ""]
    cells = [head, *(_cells(row, items) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    for row in cells:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _cells(row: tuple[str, Formula, str], items: int | None) -> list[str]:
    name, formula, note = row
    return [name, str(formula), *([shown(formula.at(items))] if items is not None else []), note]


def _replies(bound: Bound) -> Iterator[str]:
    if bound.talks:
        named = ", ".join(f"'{socket}'" for socket in bound.talks)
        yield f"each reply of a person to {named} takes a turn more, which is not counted"


def _cases(bound: Bound) -> Iterator[str]:
    """What the formula of the turns does not show: it may be more without items, and less with one."""
    turns = bound.turns
    if turns.empty > turns.constant:
        yield f"without any item at most {shown(turns.empty)} agent turns"
    if turns.single < turns.constant + turns.per_item + turns.per_pair:
        yield f"with one item at most {shown(turns.single)} agent turns"


def _unknown(bound: Bound) -> Iterator[str]:
    for spent in bound.spent:
        if spent.unknown:
            yield f"{_UNITS[spent.unit]} without those of {_listed(spent.unknown)}, whose 'cost' is not known"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _budget(bound: Bound, budget: Budget) -> Iterator[str]:
    for unit, items, limit in funded(bound, budget):
        words = f"the budget of {shown(limit)} {_UNITS[unit]} pays for"
        replies = ", without the replies of a person" if bound.talks else ""
        if items is None and not bound.talks:
            yield f"{words} every cast"
        elif items is None:
            yield f"{words} a cast{replies}, which have no limit"
        elif not _spends_more_for_items(bound, unit):
            yield f"{words} no cast in the worst case"
        else:
            yield f"{words} {items} item{'' if items == 1 else 's'} in the worst case{replies}"


def _spends_more_for_items(bound: Bound, unit: str) -> bool:
    spent = bound.spending(unit)
    return spent is not None and spent.most.grows
