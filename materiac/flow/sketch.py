"""Networks as they are drawn: what is possible how often, as far as the number of items is not yet known."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Charge = Hashable
"""What is charged for taking an arc: a socket, or a way of an item through a network of its own."""

Gains = Mapping[Any, int]
"""What is gained for each charge."""


class Limit(NamedTuple):
    """How often something is possible: `constant + per_item·N`, and never less than 0."""

    constant: int
    per_item: int = 0

    def plus(self, other: Limit) -> Limit:
        return Limit(self.constant + other.constant, self.per_item + other.per_item)

    def times(self, factor: int) -> Limit:
        return Limit(self.constant * factor, self.per_item * factor)

    def at(self, items: int) -> int:
        return max(0, self.constant + self.per_item * items)


class Among(NamedTuple):
    """Nodes that lead to each other with nothing to limit that but the stall guard.

    Each of their cycles that the guard counts is told by visits of `teller`, if they are `told` apart at
    all; so often as `forgets` the guard begins anew within them.
    """

    teller: str
    forgets: int
    told: bool


class Reason(NamedTuple):
    """What limits an arc: the budget of an edge, `next` items, runs, the guard, or visits; and of what.

    `times` is how often a loop can be begun.
    """

    kind: str
    of: Hashable
    among: Among | None = None
    times: int = 0


class Share(NamedTuple):
    """What a visit pays for the cycle that it may close, or with `fresh` is given for one that is allowed.

    In a scope, which is that of a cast or of items of a loop, `among` some nodes. The stall guard counts
    cycles for the scope, wherever they are, and lets each node be come to once whenever its circle is
    entered; prices keep a cast from making more of that than there is.
    """

    scope: Hashable
    among: Among | None
    fresh: bool


class Step(NamedTuple):
    """An arc; `enters` is the loop that it leads into from outside. `share` is paid, or given."""

    tail: int
    head: int
    most: Limit | None
    charge: Charge | None
    reason: Reason | None
    enters: str | None
    share: Share | None

    def gain(self, gains: Gains) -> int:
        """What is gained for taking it."""
        gain = gains.get(self.charge, 0)
        if self.share is None:
            return gain
        return gain + gains.get(self.share, 0) * (1 if self.share.fresh else -1)


@dataclass
class Sketch:
    """Places by what they stand for, and the arcs between them."""

    places: dict[Hashable, int] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    def place(self, what: Hashable) -> int:
        """The number of a place."""
        return self.places.setdefault(what, len(self.places))

    def step(
        self,
        tail: Hashable,
        head: Hashable,
        most: Limit | None = None,
        *,
        charge: Charge | None = None,
        reason: Reason | None = None,
        enters: str | None = None,
        share: Share | None = None,
    ) -> None:
        """Draw an arc."""
        self.steps.append(Step(self.place(tail), self.place(head), most, charge, reason, enters, share))

    def through(
        self,
        tails: Iterable[Hashable],
        what: Hashable,
        most: Limit,
        reason: Reason,
        share: Share | None = None,
    ) -> None:
        """Draw a place that is come to from some others, from all of them together at most so often."""
        sources = list(dict.fromkeys(tails))
        if len(sources) == 1:
            self.step(sources[0], what, most, reason=reason, share=share)
            return
        for tail in sources:
            self.step(tail, ("to", what))
        self.step(("to", what), what, most, reason=reason, share=share)
