"""Going on with a cast that was interrupted, has failed, or waits."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from materiac.agents.protocol import Agent
from materiac.change import changes
from materiac.environment import Mask
from materiac.process import end_leftovers
from materiac.program import Image, Program, Settings, image_data
from materiac.runtime.artifacts import CastFolder
from materiac.runtime.bench import Hears, Person
from materiac.runtime.cast import GoneError
from materiac.runtime.chronicle import RESUMED, Chronicle, PartedError
from materiac.runtime.holder import holder
from materiac.runtime.journal import HeldError, Journal, Reading, Record, Subscriber, read
from materiac.runtime.notify import mask_of, notified
from materiac.runtime.past import Past, PastError, raised
from materiac.runtime.run import Result, conduct, note, this_process, watched
from materiac.runtime.standing import lacking, standing
from materiac.runtime.usage import Tally, over
from materiac.runtime.visit import Json

MAX_CHANGES: Final = 20
"""How many changes of a definition a message tells."""
_NOW: Final = {
    "complete": "is complete",
    "failed": "has failed",
    "stopped": "was stopped",
    "waiting": "waits for something else",
}
_CHANGES: Final = {"visit-limit": "with a higher 'maxVisits'", "property": "without the property"}
"""What has to change in a loadout before a cast goes on that has failed so."""


@dataclass(frozen=True)
class Allowed:
    """What a person allows the cast: more to spend, one more traversal of the edge that is used up, to
    run a failed socket again, to run a command again that may have run, another definition."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    edge: bool = False
    retry: bool = False
    rerun: bool = False
    change: bool = False


@dataclass(frozen=True)
class Resumption:
    """A cast to go on with, and what with. `image` is its definition of today, None for the stored one.

    One that is `talked_to` has to wait for the person.
    """

    folder: Path
    agent: Agent
    environ: Mapping[str, str]
    image: Image | None = None
    allowed: Allowed = field(default_factory=Allowed)
    person: Person | None = None
    talked_to: bool = False
    hears: Hears | None = None
    watchers: Sequence[Subscriber] = ()


class ResumeError(Exception):
    """A cast cannot go on like this; nothing has been changed. The message says what would help.

    `status` is what the cast is, if it rests.
    """

    def __init__(self, message: str, status: str | None = None) -> None:
        super().__init__(message)
        self.status = status


def resume(order: Resumption) -> Result:
    """Go on with a cast until it rests again.

    Raises `ResumeError`, and `ArtifactError` and `JournalError` where its files are not sound.
    """
    began = time.monotonic()
    journal, reading = _opened(order.folder)
    with journal:
        try:
            return _go_on(order, _past(order.folder, reading.records), journal, began)
        except PastError as error:
            raise ResumeError(str(error)) from error
        except (PartedError, GoneError) as error:
            raise ResumeError(f"the cast cannot go on: {error}") from error


def look(folder: Path, *, talked_to: bool = False) -> Past:
    """What a folder tells of a cast that `resume` may go on with, without taking it.

    Raises `ResumeError` where somebody runs it, or where it is over, and `ArtifactError` and `JournalError`.
    """
    path = folder / "events.jsonl"
    CastFolder(folder, {})
    past = _past(folder, read(path).records)
    found = holder(path, past.records)
    if found is not None:
        raise ResumeError(f"the cast is being run by {found}")
    _refuse_over(past, talked_to=talked_to)
    return past


def stop(folder: Path, environ: Mapping[str, str]) -> str:
    """Stop a cast that nobody runs; gives what it is then. Ends what its commands have left running.

    Raises `ResumeError` where somebody runs it, and `JournalError`.
    """
    journal, reading = _opened(folder)
    with journal:
        past = _past(folder, reading.records)
        end_leftovers(past.began["castId"])
        last = past.records[-1]
        status = last.fields.get("status") if last.type == "cast_finished" else None
        if status in ("complete", "failed", "stopped"):
            return str(status)
        settings = _stored_settings(past)
        with notified(journal, folder, settings, mask_of(settings, environ), environ, past.records):
            journal.append("cast_finished", status="stopped", failure=None, waiting=None, waitingFor=None)
    return "stopped"


def _stored_settings(past: Past) -> Settings:
    try:
        return past.images({}, masked=True)[past.machine].settings
    except PastError:
        return Settings()


def _opened(folder: Path) -> tuple[Journal, Reading]:
    path = folder / "events.jsonl"
    CastFolder(folder, {})
    try:
        return Journal.reopen(path)
    except HeldError as error:
        raise ResumeError(f"the cast is being run by {holder(path) or 'another process'}") from error


def _past(folder: Path, records: Sequence[Record]) -> Past:
    try:
        return Past.of(folder, records)
    except PastError as error:
        raise ResumeError(str(error)) from error


def _go_on(order: Resumption, past: Past, journal: Journal, began: float) -> Result:
    _refuse_over(past, talked_to=order.talked_to)
    images = past.images({} if order.image is None else {order.image.program.digest(): order.image})
    image = order.image or images[past.machine]
    changed = image.program.digest() != images[past.machine].program.digest()
    _refuse_changes(order, past, {file: each.program for file, each in images.items()}, image.program)
    _refuse_vain(order, past, image.program, changed=changed)
    ended = end_leftovers(past.began["castId"])
    mask = mask_of(image.settings, order.environ)
    machine = _stored(order, past, mask) if changed else past.machine
    journal.limit(image.settings.limits.max_journal_bytes)
    tally = watched(journal, order.folder, order.watchers, past.records)
    with notified(journal, order.folder, image.settings, mask, order.environ, past.records) as notes:
        said = _said(order, past, image.program, mask, changed=changed)
        record = journal.append(RESUMED, machine=machine, **said, **this_process())
        note(journal, notes)
        if ended:
            journal.append("leftovers_ended", sync=False, processes=ended)
        past = Past.of(order.folder, [*past.records, record])
        cast = past.cast(
            images | {machine: image},
            Chronicle(journal, past.records[1:]),
            order.agent,
            tally,
            mask=mask,
            environ=order.environ,
            person=order.person,
            hears=order.hears,
        )
        status = conduct(cast)
        seconds = time.monotonic() - began
    return Result(status, cast, order.folder, seconds, tuple(journal.broken))


def _refuse_over(past: Past, *, talked_to: bool) -> None:
    rest = _rest(past)
    if talked_to and rest.get("waitingFor") != "person":
        now = _NOW.get(rest.get("status", ""), "was interrupted")
        raise ResumeError(f"the cast does not wait for a person: it {now}")
    if rest.get("status") == "complete":
        raise ResumeError("the cast is complete: there is nothing to go on with", "complete")


def _rest(past: Past) -> Json:
    """How the cast came to rest; empty where it was interrupted."""
    return past.records[-1].fields if past.records[-1].type == "cast_finished" else {}


def _refuse_changes(order: Resumption, past: Past, programs: Mapping[str, Program], new: Program) -> None:
    old = programs[past.machine]
    if old.digest() == new.digest():
        return
    if not order.allowed.change:
        raise ResumeError(_told_changes(old, new))
    lack = lacking(standing(past.records, programs), old, new)
    if lack is not None:
        raise ResumeError(lack)


def _said(order: Resumption, past: Past, program: Program, mask: Mask, *, changed: bool) -> Json:
    """What the record of a resumption says. Limits that were raised before stay, but for a new definition."""
    allowed = order.allowed
    tokens, dollars = (None, None) if changed else past.raised
    return {
        "loadout": program.name,
        "hash": program.digest(),
        "accepted": past.hashes[past.machine] if changed else None,
        "agent": mask.text(order.agent.spec),
        "retry": allowed.retry,
        "rerun": allowed.rerun,
        "allowEdge": allowed.edge,
        "maxTokens": allowed.max_tokens or tokens,
        "maxCostUsd": allowed.max_cost_usd or dollars,
    }


def _stored(order: Resumption, past: Past, mask: Mask) -> str:
    """Store another definition beside the others; gives the name of its file."""
    name = f"machine.{len(past.hashes) + 1}.json"
    if order.image is not None:
        CastFolder(order.folder, {}).write_json(name, mask.data(image_data(order.image)))
    return name


def _told_changes(old: Program, new: Program) -> str:
    told = [f"  {change}" for change in changes(old, new)]
    more = [f"  and {len(told) - MAX_CHANGES} more"] if len(told) > MAX_CHANGES else []
    head = (
        "the loadout is not what the cast was run with; --accept-change goes on with it, "
        "--stored with the one that the cast has:"
    )
    return "\n".join([head, *told[:MAX_CHANGES], *more])


def _refuse_vain(order: Resumption, past: Past, program: Program, *, changed: bool) -> None:
    """Refuse to go on where nothing has changed about what the cast rests by."""
    rest = _rest(past)
    status, failure = rest.get("status"), rest.get("failure")
    if status == "failed" and failure:
        _refuse_failed(order, past, program, failure, changed=changed)
    if status == "waiting":
        _refuse_waiting(order, past, program, rest)


def _refuse_failed(order: Resumption, past: Past, program: Program, failure: Json, *, changed: bool) -> None:
    kind, allowed = failure["kind"], order.allowed
    if kind == "budget":
        _refuse_spent(order, past, program, "failed")
    elif kind == "edge-limit" and not (allowed.edge or changed):
        raise ResumeError(f"{failure['message']}; --allow-edge lets it be taken once more", "failed")
    elif kind in _CHANGES and not (allowed.retry and changed):
        help_ = f"a loadout {_CHANGES[kind]}, with --accept-change --retry, lets the cast go on"
        raise ResumeError(f"{failure['message']}; {help_}", "failed")
    elif kind not in ("edge-limit", "stream") and not allowed.retry:
        where = f"'{failure['socket']}' failed ({kind}): {failure['message']}"
        raise ResumeError(f"{where}; --retry runs it again", "failed")


def _refuse_waiting(order: Resumption, past: Past, program: Program, rest: Json) -> None:
    reason, message = rest.get("waitingFor"), rest.get("waiting")
    if reason == "budget":
        _refuse_spent(order, past, program, "waiting")
    elif reason == "uncertain" and not order.allowed.rerun:
        raise ResumeError(str(message), "waiting")
    elif reason == "person" and order.person is None:
        raise ResumeError(f"{message}; `materiac say` answers, `materiac continue` ends the talk", "waiting")


def _refuse_spent(order: Resumption, past: Past, program: Program, status: str) -> None:
    allowed, (tokens, dollars) = order.allowed, past.raised
    budget = raised(program.budget, allowed.max_tokens or tokens, allowed.max_cost_usd or dollars)
    reached = over(budget, Tally(past.records))
    if reached is not None:
        options = "--budget-tokens or --budget-usd"
        raise ResumeError(f"{reached}; a higher limit, with {options}, lets the cast go on", status)
