"""Where a cast has been, which all of its streams write down together."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

from materiac.program import Socket
from materiac.runtime.chronicle import STARTED, WARNING
from materiac.runtime.journal import Record
from materiac.runtime.visit import VisitFailed


class Course:
    """The visits of a cast, in the order in which they began, and the edges that were taken.

    Of a cast that goes on, the visits that its records tell of are counted from the beginning.
    """

    def __init__(self, records: Sequence[Record] = ()) -> None:
        begun = [record.fields for record in records if record.type == STARTED]
        self.path: list[str] = [fields["socket"] for fields in begun]
        self.items: list[str | None] = [fields["itemKey"] for fields in begun]
        self.visits: Counter[str] = Counter(self.path)
        self.traversals: Counter[str] = Counter()
        self._warned = any(record.type == WARNING for record in records)
        self._lock = threading.Lock()

    def visit(self, socket: Socket, item: str | None, breach: VisitFailed | None = None) -> None:
        """Count a visit that begins now, at an item by its key, unless it is a breach of something.

        Raises `VisitFailed`: over the limit of the socket, else the breach.
        """
        limit = socket.max_visits
        with self._lock:
            if limit is not None and self.visits[socket.id] >= limit:
                words = f"'{socket.id}' has been visited {limit} times, its limit is {limit}"
                raise VisitFailed("visit-limit", words)
            if breach is not None:
                raise breach
            self.visits[socket.id] += 1
            self.path.append(socket.id)
            self.items.append(item)

    def traverse(self, source: str, target: str) -> None:
        """Count an edge that is taken."""
        with self._lock:
            self.traversals[f"{source}->{target}"] += 1

    def first_warning(self) -> bool:
        """Whether nobody has warned of the budget yet; from now on somebody has."""
        with self._lock:
            first, self._warned = not self._warned, True
        return first
