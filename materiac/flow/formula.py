"""Numbers that grow with the items of a cast, as `4 + 9·N`: how they are added, compared and written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

Number = int | Fraction

_MOST_ITEMS: Final = 1 << 40
_TERM: Final = re.compile(r"(-?)(?:(\d+(?:\.\d+)?)(?:[*·]?(N))?|(N)(?:[*·](\d+(?:\.\d+)?))?)")


@dataclass(frozen=True, slots=True)
class Formula:
    """`constant + per_item·N + per_pair·N²` for N of at least 1.

    Where N is 1, the number is `single`, which may be less; where it is 0, it is `empty`.
    """

    constant: Number = 0
    per_item: Number = 0
    per_pair: Number = 0
    single: Number = 0
    empty: Number = 0

    @classmethod
    def always(cls, number: Number) -> Formula:
        """A number that does not depend on N."""
        return cls(number, single=number, empty=number)

    @classmethod
    def read(cls, text: str) -> Formula:
        """The formula in a text such as `4 + 9*N`. Raises `ValueError`."""
        constant, per_item = Fraction(0), Fraction(0)
        for part in re.split(r"\+|(?<=.)(?=-)", re.sub(r"\s*([-+*·])\s*", r"\1", text.strip())):
            found = _TERM.fullmatch(part)
            if found is None:
                raise ValueError(f"'{text}' is no formula such as 4 + 9*N")
            number = Fraction(f"{found[1]}{found[2] or found[5] or 1}")
            if found[3] or found[4]:
                per_item += number
            else:
                constant += number
        single, none = _plain(constant + per_item), _plain(constant)
        return cls(_plain(constant), _plain(per_item), single=single, empty=none)

    def __add__(self, other: Formula) -> Formula:
        return Formula(
            self.constant + other.constant,
            self.per_item + other.per_item,
            self.per_pair + other.per_pair,
            self.single + other.single,
            self.empty + other.empty,
        )

    def times(self, factor: Number) -> Formula:
        """So many times as much."""
        return Formula(*(_plain(part * Fraction(factor)) for part in self._parts()))

    def for_each_item(self) -> Formula:
        """N times as much, of what does not grow with N²."""
        return Formula(0, self.constant, self.per_item, self.single)

    def at(self, items: int) -> Number:
        """The number for so many items."""
        if items < 2:
            return self.single if items else self.empty
        return self.constant + self.per_item * items + self.per_pair * items * items

    @property
    def grows(self) -> bool:
        """Whether it depends on the number of items, be there one."""
        return bool(self.per_item or self.per_pair)

    def first_over(self, limit: Formula, *, reaches: bool = False) -> int | None:
        """The fewest items, at least 1, for which this is more than `limit`; None where it never is.

        With `reaches` it is enough to come to the limit.
        """

        def is_over(items: int) -> bool:
            least, limited = self.at(items), limit.at(items)
            return least > limited or (reaches and least == limited)

        if is_over(1):
            return 1
        low, high = 1, 2
        while not is_over(high):
            if high >= _MOST_ITEMS or (self.per_pair, self.per_item) <= (limit.per_pair, limit.per_item):
                return None
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if is_over(middle) else (middle, high)
        return high

    def is_always_over(self, limit: Formula) -> bool:
        """Whether this is more than `limit` for any number of items, be there one."""
        grows = (self.per_pair, self.per_item) >= (limit.per_pair, limit.per_item)
        return grows and all(self.at(items) > limit.at(items) for items in (1, 2))

    def most_items(self, limit: float | Fraction) -> int | None:
        """The most items for which this stays below a limit, 0 if there are none; None for any number."""
        first = self.first_over(Formula.always(Fraction(str(limit))), reaches=True)
        return None if first is None else first - 1

    def as_data(self) -> dict[str, Any]:
        """The formula as JSON values."""
        data = {
            "text": str(self),
            "constant": _json(self.constant),
            "perItem": _json(self.per_item),
            "withoutItems": _json(self.empty),
            "withOneItem": _json(self.single),
        }
        return {**data, "perItemSquared": _json(self.per_pair)} if self.per_pair else data

    def __str__(self) -> str:
        parts = [part for part in self._terms() if part]
        return "".join(parts) if parts else "0"

    def _terms(self) -> Iterator[str]:
        constant, growing = self.constant, [(self.per_item, "N"), (self.per_pair, "N²")]
        written = [f"{'' if n == 1 else f'{shown(n)}·'}{unit}" for n, unit in growing if n]
        if constant > 0:
            yield shown(constant)
        yield (" + " if constant > 0 and written else "") + " + ".join(written)
        if constant < 0:
            yield f" - {shown(-constant)}"

    def _parts(self) -> tuple[Number, ...]:
        return self.constant, self.per_item, self.per_pair, self.single, self.empty


def shown(number: Number) -> str:
    """A number as people write it."""
    return str(number) if isinstance(number, int) else f"{float(number):.12g}"


def _json(number: Number) -> int | float:
    return number if isinstance(number, int) else float(number)


def _plain(number: Number) -> Number:
    return number.numerator if isinstance(number, Fraction) and number.denominator == 1 else number
