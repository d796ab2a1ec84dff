"""The streams of a parallel generator: casts within a cast, side by side, and what is left of them.

Each stream has a machine of its own, a thread while it runs, and a copy of the state that nobody else
sees. They share the journal, the budget, the agent, and where the cast has been.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from materiac.machine import FAILED, WAITING, Way
from materiac.process import StoppedError
from materiac.program import FAN_IN, Program, Region
from materiac.runtime.bench import Bench
from materiac.runtime.cast import Cast
from materiac.runtime.drive import Drive
from materiac.runtime.handoff import excerpt
from materiac.runtime.items import Loops
from materiac.runtime.journal import Record
from materiac.runtime.state import compact
from materiac.runtime.visit import Json, VisitFailed

MAX_OUTPUT: Final = 900
"""How many characters of an item's last output are left of its stream."""
MAX_SHOWN: Final = 8
"""How many failed streams a message tells of."""

COMPLETE: Final = "complete"
_STATUS: Final = {FAILED: "failed", WAITING: "waiting"}


class Lanes:
    """Runs the streams of a cast, those of one region after those of another."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._numbers: dict[str, Counter[str]] = {}
        self._streams: dict[str, list[Stream]] = {}
        self._stop = threading.Event()

    def run(self, region: Region) -> None:
        """Run all streams of the plan that the cast was sent last, and hand it what came of them.

        An exception of a stream, and an interrupt, ends all of them first. Another definition that was
        accepted counts for streams that have not begun yet, else when all are done.
        """
        cast, schedule = self._cast, self._cast.schedule()
        cast.heed_changes()
        region = cast.program.regions[region.generator]
        streams = [self._stream(region, part) for part in schedule]
        told = [{"name": part["name"], "workItemIndexes": part["workItemIndexes"]} for part in schedule]
        cast.bench.journal.append(
            "streams_started", socket=region.generator, streams=told, maxConcurrency=region.max_concurrency
        )
        self._streams[region.generator] = streams
        self._side_by_side(streams, region.max_concurrency)
        self._join(region, streams)

    def go_on(self, region: Region, resumed: Record) -> None:
        """Go on with the streams that have failed or wait, and with no other."""
        streams = self._streams[region.generator]
        resting = [stream for stream in streams if stream.status != COMPLETE]
        names = [stream.name for stream in resting]
        self._cast.bench.journal.append("streams_resumed", socket=region.generator, streams=names)
        for stream in resting:
            stream.renew(self._cast.program, region, resumed)
        self._side_by_side(resting, region.max_concurrency)
        self._join(region, streams)

    def _stream(self, region: Region, part: Json) -> Stream:
        name, cast = part["name"], self._cast
        numbers = self._numbers.setdefault(name, Counter())
        bench = replace(
            cast.bench,
            folder=cast.bench.folder.streams(self._numbers)[name],
            journal=cast.bench.journal.of(name),
            person=None,
            stream=name,
            stop=self._stop,
        )
        return Stream(cast, bench, region, part["workItemIndexes"], numbers)

    def _side_by_side(self, streams: Sequence[Stream], width: int) -> None:
        waiting, errors = deque(streams), deque[BaseException]()
        ended = [threading.Event() for _ in range(min(width, len(streams)))]
        workers = [
            threading.Thread(
                target=self._work, args=(waiting, errors, event), name=f"streams-{n}", daemon=True
            )
            for n, event in enumerate(ended, 1)
        ]
        try:
            for worker in workers:
                worker.start()
            for event in ended:
                event.wait()
        except BaseException:
            self._end()
            # An interrupted `join` takes a thread that runs for one that has ended.
            for worker, event in zip(workers, ended, strict=True):
                if worker.ident is not None:
                    event.wait()
            raise
        if errors:
            raise errors[0]

    def _work(self, waiting: deque[Stream], errors: deque[BaseException], ended: threading.Event) -> None:
        try:
            while not self._stop.is_set() and (stream := _next(waiting)) is not None:
                stream.run()
        except BaseException as error:  # noqa: BLE001 - raised again where all streams have ended
            errors.append(error)
            self._end()
        finally:
            ended.set()

    def _end(self) -> None:
        self._stop.set()
        self._cast.bench.agent.close()

    def _join(self, region: Region, streams: Sequence[Stream]) -> None:
        cast = self._cast
        cast.knowledge.state[FAN_IN] = [stream.report() for stream in streams]
        cast.knowledge.written[FAN_IN] = None
        told = [{"name": stream.name, "status": stream.status} for stream in streams]
        cast.bench.journal.append("streams_finished", socket=region.generator, streams=told)
        failed = [stream for stream in streams if stream.failure is not None]
        waits = next((stream.waits for stream in streams if stream.waits is not None), None)
        place, failure = {"socket": region.generator}, None
        if failed:
            place, failure = _place(failed[0].failure or {}), _failure(failed, len(streams))
        elif waits is None:
            cast.watch = cast.watch.joined(stream.watch for stream in streams)
        self._cast.join(place, failure, None if failure else waits)
        cast.heed_changes()


def _next(waiting: deque[Stream]) -> Stream | None:
    try:
        return waiting.popleft()
    except IndexError:  # another worker was faster
        return None


def _place(failure: Json) -> Json:
    return {"socket": failure["socket"], "visit": failure["visit"], "itemKey": failure["item"]}


def _failure(failed: Sequence[Stream], count: int) -> VisitFailed:
    """The failure of the cast. A budget is the cast's own, and is no failure of its streams."""
    reasons = [stream.failure or {} for stream in failed]
    if all(reason["kind"] == "budget" for reason in reasons):
        return VisitFailed("budget", reasons[0]["message"])
    told = [_told(stream) for stream in failed[:MAX_SHOWN]]
    more = [f"and {len(failed) - MAX_SHOWN} more"] if len(failed) > MAX_SHOWN else []
    return VisitFailed("stream", f"{len(failed)} of {count} streams failed: {'; '.join([*told, *more])}")


def _told(stream: Stream) -> str:
    failure = stream.failure or {}
    visit = f", visit {failure['visit']}" if failure["visit"] else ""
    item = f", {failure['item']}" if failure["item"] else ""
    where = f"'{stream.name}' at '{failure['socket']}'{visit}{item}"
    return f"{where}: {failure['kind']}: {excerpt(failure['message'], MAX_OUTPUT)}"


class Stream(Cast):
    """One stream of a region: a cast that begins in the middle of another and ends with the loop."""

    def __init__(
        self, cast: Cast, bench: Bench, region: Region, items: Sequence[int], numbers: Counter[str]
    ) -> None:
        super().__init__(bench, course=cast.course)
        self.name = bench.stream or ""
        self.status = "stopped"
        self.numbers = numbers
        self._known, self._watched, self._items = cast.knowledge, cast.watch, items
        self._resumed: Record | None = None
        self._region = region
        self._begin_stream()

    def _begin_stream(self) -> None:
        self.knowledge = self._known.fork()
        self.watch = self._watched.fork()
        self.loops = Loops(self.program, {self._region.loop: self._items})
        self.join({"socket": self._region.entry}, None, None)
        self._outputs: list[Json] = []
        self._drive = Drive(self, region=self._region)

    def renew(self, program: Program, region: Region, resumed: Record) -> None:
        """Make ready to go on from a rest; one that went astray begins anew."""
        self.adopt(program)
        self._region, self._resumed = region, resumed
        if self.failure is not None and self.failure["kind"] == "stream":
            self.go_on()
            self._resumed = None
            self._begin_stream()

    def run(self) -> None:
        """Run to the end, or go on from a rest, until all streams are stopped."""
        journal, stop = self.bench.journal, self.bench.stop
        try:
            if self._resumed is None:
                journal.append("stream_started", sync=False)
            else:
                self._go_on_from(self._resumed)
            self._drive.to_rest(stop.is_set if stop else None)
        except StoppedError:
            self.status = "stopped"
        else:
            over = self._drive.grid.over
            self.status = _STATUS.get(self._drive.grid.at, COMPLETE) if over else "stopped"
        if self.failure is not None:
            self.status = "failed"
        waiting = self.waits.message if self.waits else None
        journal.append("stream_finished", status=self.status, failure=self.failure, waiting=waiting)

    def _go_on_from(self, resumed: Record) -> None:
        """What failed in a stream is done again; what has to be allowed is what was allowed to the cast."""
        self.bench.journal.append("stream_resumed", sync=False)
        self._drive.go_on(Record(resumed.n, resumed.at, resumed.type, resumed.fields | {"retry": True}))

    def report(self) -> Json:
        """What is left of the stream in the state of the cast."""
        return {"name": self.name, "status": self.status, "outputs": self._outputs}

    def leave(self, way: Way) -> None:
        """As in a cast; what finished an item is kept, and a stream that goes astray has failed."""
        if self._now.advanced and not self._now.finished:
            self._keep()
        super().leave(way)
        if way.kind not in ("exit", "done") and self._is_out(way):
            self._fail(VisitFailed("stream", self._astray(way)))

    def _is_out(self, way: Way) -> bool:
        return way.kind in ("edge", "end", "empty") and way.to not in self._region.sockets(self.program)

    def _astray(self, way: Way) -> str:
        loop = f"loop '{self._region.loop}'"
        if way.kind == "empty":
            return f"'{way.source}' finds no item in {loop}: the list has been replaced"
        return f"'{way.source}' leaves {loop} for '{way.to}' before its list is used up"

    def _keep(self) -> None:
        visit, output = self._now.visit, self._now.output
        if visit is None or visit.item is None or output is None:
            return
        shown: Any = output.accepted.shown if output.accepted else output.text
        text = shown if isinstance(shown, str) else compact(shown)
        kept = shown if len(text) <= MAX_OUTPUT else excerpt(text, MAX_OUTPUT)
        self._outputs.append(
            {"item": visit.item.key, "label": visit.item.label, "socket": visit.socket.id, "output": kept}
        )

    def _fail(self, failure: VisitFailed | None) -> None:
        # An agent that is closed because all streams are stopped says that it has failed.
        if self.bench.stop is None or not self.bench.stop.is_set():
            super()._fail(failure)
