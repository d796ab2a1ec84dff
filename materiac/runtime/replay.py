"""Going the way of a cast once more without doing anything: the outcomes are those that were recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from materiac.agents.nobody import Nobody
from materiac.environment import Mask
from materiac.program import Image
from materiac.runtime.artifacts import ArtifactError
from materiac.runtime.cast import Cast, GoneError
from materiac.runtime.chronicle import STARTED, Chronicle, PartedError, UsedUp
from materiac.runtime.journal import Record, read
from materiac.runtime.past import Past
from materiac.runtime.run import conduct
from materiac.runtime.usage import Tally


@dataclass(frozen=True)
class Replay:
    """What came of it. `status` is that of the cast, or `interrupted` where its journal has no end.

    `parted` says where it went another way, `difference` which text became another one or is not as the
    journal tells, `gone` that there was no way to go on; then the cast is as far as it came.
    """

    status: str
    cast: Cast
    records: Sequence[Record]
    parted: PartedError | None = None
    difference: ArtifactError | None = None
    gone: GoneError | None = None

    @property
    def path(self) -> list[str]:
        """The sockets that were visited, up to where the ways part."""
        end = self.records[-1].n if self.parted is None else self.parted.record.n
        begun = (record for record in self.records if record.type == STARTED and record.n <= end)
        return [record.fields["socket"] for record in begun]


def replay(folder: Path, against: Image | None = None) -> Replay:
    """What `once_more` gives for the cast of a folder."""
    return once_more(Past.of(folder, read(folder / "events.jsonl").records), against)


def once_more(past: Past, against: Image | None = None) -> Replay:
    """Hold a cast against its records: the way, the prompts, what commands were given, the state.

    With another definition to go `against`, only the way is held against them. Raises `PastError`, and
    `JournalError` and `ArtifactError` where there is no cast; nothing is written.
    """
    images = past.images({}, masked=True) if against is None else dict.fromkeys(past.hashes, against)
    chronicle = Chronicle(None, past.records[1:], strict=against is None)
    cast = past.cast(images, chronicle, Nobody(), Tally(past.records), mask=Mask(()), environ={})
    try:
        return Replay(conduct(cast), cast, past.records)
    except UsedUp:
        return Replay("interrupted", cast, past.records)
    except PartedError as parted:
        return Replay("parted", cast, past.records, parted=parted)
    except ArtifactError as difference:
        return Replay("different", cast, past.records, difference=difference)
    except GoneError as gone:
        return Replay("parted", cast, past.records, gone=gone)
