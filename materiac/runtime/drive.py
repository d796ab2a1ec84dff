"""Driving the machine of a cast, or of one of its streams, from where it stands until it rests."""

from __future__ import annotations

from collections.abc import Callable

from materiac.machine import Grid, Streams
from materiac.program import Region
from materiac.runtime.cast import Cast, GoneError
from materiac.runtime.chronicle import Changed
from materiac.runtime.journal import Record

GoOn = Callable[[Region, Record], None]
"""Goes on with the streams of a region that rest."""


class Drive:
    """A cast and its machine. `streams` runs those of a region, `go_on` goes on with them."""

    def __init__(
        self,
        cast: Cast,
        streams: Streams | None = None,
        go_on: GoOn | None = None,
        region: Region | None = None,
    ) -> None:
        budget = cast.bench.budget
        gated = budget.max_tokens is not None or budget.max_cost_usd is not None
        self._cast = cast
        self._go_on = go_on
        self.grid = Grid(cast.program, cast, streams, region, gated=gated)

    def to_rest(self, stopped: Callable[[], bool] | None = None) -> None:
        """Take steps until there is none, or all is stopped."""
        while not self.grid.over and not (stopped and stopped()):
            try:
                self.grid.step()
            except Changed:
                self._cast.again()
            self._keep_up()

    def go_on(self, resumed: Record) -> bool:
        """Go on from a rest as a person has said; false where that does not lift what the cast rests by."""
        cast = self._cast
        cast.heed_changes()
        self._keep_up()
        if not _lifts(cast, resumed):
            return False
        if resumed.fields["allowEdge"]:
            cast.allow_edge()
        region, was_refused = self.grid.back(), cast.is_refused
        cast.go_on()
        if region is not None and self._go_on is not None and not was_refused:
            self._go_on(region, resumed)
        elif not was_refused:
            cast.again()
        return True

    def _keep_up(self) -> None:
        """Go on with the machine of the program that the cast has gone over to."""
        if self.grid.program is not self._cast.program:
            try:
                self.grid = self.grid.remade(self._cast.program)
            except KeyError as error:
                message = f"the cast stands at '{error.args[0]}', which its new definition does not have"
                raise GoneError(message) from error


def _lifts(cast: Cast, resumed: Record) -> bool:
    """Whether what was said when the cast was resumed lifts what it rests by."""
    allowed = resumed.fields
    if cast.is_refused:
        limit = cast.failure is not None and cast.failure["kind"] in ("edge-limit", "property")
        return bool(not limit or allowed["allowEdge"] or allowed["accepted"])
    if cast.waits is not None:
        return bool(cast.waits.reason != "uncertain" or allowed["rerun"])
    kinds = ("budget", "stream")
    return cast.failure is not None and (cast.failure["kind"] in kinds or bool(allowed["retry"]))
