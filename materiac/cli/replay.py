"""`materiac replay`: go the way of a cast once more, without doing anything."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from materiac.cli import places, reading
from materiac.cli.wording import count, one_line

if TYPE_CHECKING:
    from materiac.runtime.chronicle import PartedError
    from materiac.runtime.replay import Replay

SAME, OTHER, NOT_STARTED = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    places.add_arguments(parser)
    parser.add_argument(
        "--against", metavar="FILE", help="go with the recorded outcomes through this loadout instead"
    )
    parser.add_argument(
        "--loadout", metavar="NAME", help="the loadout in that file (default: the active one)"
    )
    reading.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """0 the same, 1 another way or text, 2 nothing to replay."""
    from materiac.cli import loading
    from materiac.runtime.artifacts import ArtifactError
    from materiac.runtime.journal import JournalError
    from materiac.runtime.past import PastError
    from materiac.runtime.replay import replay

    folder = places.cast_folder(options)
    if folder is None:
        return places.NO_CAST
    image = None
    if options.against is not None:
        image = loading.image_or_report(options.against, options.loadout, reading.reading(options))
        if image is None:
            return NOT_STARTED
    try:
        done = replay(folder, image)
    except (JournalError, PastError, ArtifactError) as error:
        loading.complain(str(error))
        return NOT_STARTED
    found = _as_data(done)
    print(json.dumps(found, ensure_ascii=False, indent=2) if options.json else _words(done, found))
    return SAME if found["difference"] is None else OTHER


def _as_data(done: Replay) -> dict[str, Any]:
    return {
        "castId": done.cast.bench.cast_id,
        "status": done.status,
        "difference": _difference(done),
        "path": done.path,
        "data": done.cast.knowledge.state,
    }


def _difference(done: Replay) -> str | None:
    if done.parted is not None:
        return _parting(done.parted)
    fault = done.difference or done.gone
    return None if fault is None else str(fault)


def _parting(parted: PartedError) -> str:
    """Where the ways part: what the cast did there, and what it would do now."""
    old, new = _did(parted.record.type, parted.record.fields), _did(parted.kind, parted.fields)
    if old is None or new is None:
        return str(parted)
    return f"{_where(parted.record.fields)}: the cast {old}; now it {new}"


def _did(kind: str, fields: Mapping[str, Any]) -> str | None:
    """What a record says that a cast did; None for one that decides nothing."""
    if kind == "socket_finished":
        route = fields["route"]
        how = f"the {route['when']} {route['kind']}" if route["kind"] in ("edge", "exit") else "no edge"
        barred = f", which its {fields['blocked']} did not allow" if fields["blocked"] else ""
        return f"went by {how} to '{route['to']}'{barred}"
    if kind == "socket_failed":
        failure = fields["failure"]
        return f"failed ({failure['kind']}): {failure['message']}"
    if kind == "socket_waits":
        return f"waited: {fields['message']}"
    if kind == "socket_started":
        return f"came to '{fields['socket']}'"
    return {"turn_finished": "asked again", "command_finished": "ran its command"}.get(kind)


def _where(fields: Mapping[str, Any]) -> str:
    visit = f", visit {fields['visit']}" if fields.get("visit") else ""
    item = f", {fields['itemKey']}" if fields.get("itemKey") else ""
    return f"at '{fields.get('socket')}'{visit}{item}"


def _words(done: Replay, found: Mapping[str, Any]) -> str:
    visits = count(len(done.path), "visit")
    if found["difference"] is not None:
        return one_line(f"parted      {found['difference']}")
    end = "where it was interrupted" if done.status == "interrupted" else f"where it was {done.status}"
    return f"the same   {visits}, to {end}"
