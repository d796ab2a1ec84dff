"""`materiac replay`: go the way of a cast once more, without doing anything."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from materiac.cli import places, reading
from materiac.cli.wording import count, one_line

if TYPE_CHECKING:
    from materiac.program import Image
    from materiac.runtime.chronicle import PartedError
    from materiac.runtime.past import Past
    from materiac.runtime.replay import Replay

SAME, OTHER, NOT_STARTED = 0, 1, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    places.add_arguments(parser)
    parser.add_argument(
        "--against", metavar="FILE", help="go with the recorded outcomes through this loadout instead"
    )
    parser.add_argument(
        "--loadout", metavar="NAME", help="the loadout in that file (default: the one of the cast's name)"
    )
    reading.add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(options: argparse.Namespace) -> int:
    """0 the same, 1 another way or text, 2 nothing to replay."""
    from materiac.cli import loading
    from materiac.runtime.artifacts import ArtifactError
    from materiac.runtime.journal import JournalError, read
    from materiac.runtime.past import Past, PastError
    from materiac.runtime.replay import once_more

    folder = places.cast_folder(options)
    if folder is None:
        return places.NO_CAST
    try:
        past = Past.of(folder, read(folder / "events.jsonl").records)
        image = None if options.against is None else _other(options, past)
        if image is None and options.against is not None:
            return NOT_STARTED
        done = once_more(past, image)
    except (JournalError, PastError, ArtifactError) as error:
        loading.complain(one_line(str(error)))
        return NOT_STARTED
    except loading.NotThereError as gone:
        loading.complain(one_line(f"{gone}; name one with --loadout, there is {gone.known}"))
        return NOT_STARTED
    found = _as_data(done)
    print(json.dumps(found, ensure_ascii=False, indent=2) if options.json else _words(done, found))
    return SAME if found["difference"] is None else OTHER


def _other(options: argparse.Namespace, past: Past) -> Image | None:
    """The loadout to go against: the one that is named, else that of the cast; None after complaining."""
    from materiac.cli import loading

    asked = options.loadout or loading.again(past.loadout, past.began.get("source"))
    return loading.image_or_report(options.against, asked, reading.reading(options))


def _as_data(done: Replay) -> dict[str, Any]:
    return {
        "castId": done.cast.bench.cast_id,
        "status": done.status,
        "difference": _difference(done),
        "parted": None if done.parted is None else _parting(done.parted),
        "path": done.path,
        "data": done.cast.knowledge.state,
    }


def _difference(done: Replay) -> str | None:
    """The first difference, in one line."""
    parted = done.parted
    if parted is None or _looks_same(parted):
        fault = done.parted or done.difference or done.gone
        return None if fault is None else str(fault)
    told = _parting(parted)
    return f"{_where(told)}: the cast {told['was']['did']}; now it {told['now']['did']}"


def _looks_same(parted: PartedError) -> bool:
    """Whether it is in no more than the fields of a record that the cast would be another one."""
    record = parted.record
    return _did(record.type, record.fields, now=False) == _did(parted.kind, parted.fields, now=False)


def _parting(parted: PartedError) -> dict[str, Any]:
    """Where the ways part: what the cast did there, and what it would do now."""
    record = parted.record
    return {
        "n": record.n,
        "socket": record.fields.get("socket") or parted.fields.get("socket"),
        "visit": record.fields.get("visit"),
        "itemKey": record.fields.get("itemKey"),
        "was": {"did": _did(record.type, record.fields, now=False), "route": record.fields.get("route")},
        "now": {"did": _did(parted.kind, parted.fields, now=True), "route": parted.fields.get("route")},
    }


def _did(kind: str, fields: Mapping[str, Any], *, now: bool) -> str:
    """What a record says that a cast did, or would do `now`."""
    would = _WOULD if now else _DID
    if kind == "socket_finished":
        barred = f", which its {fields['blocked']} did not allow" if fields["blocked"] else ""
        return f"{would['go']} by {_edge(fields['route'])}{barred}"
    if kind == "socket_failed":
        failure = fields["failure"]
        return f"{would['fail']} ({failure['kind']}): {failure['message']}"
    if kind == "socket_waits":
        return f"{would['wait']}: {fields['message']}"
    if kind == "socket_started":
        item = f", {fields['itemKey']}" if fields.get("itemKey") else ""
        return f"{would['come']} to '{fields['socket']}'{item}"
    if kind == "cast_finished":
        return f"{would['be']} {fields['status']}"
    return would.get(kind) or f"{would['write']} '{kind}'"


_DID: Final = {
    "go": "went",
    "fail": "failed",
    "wait": "waited",
    "come": "came",
    "be": "was",
    "turn_finished": "asked its agent",
    "command_finished": "ran its command",
    "write": "wrote a record",
}
_WOULD: Final = {
    "go": "would go",
    "fail": "would fail",
    "wait": "would wait",
    "come": "would come",
    "be": "would be",
    "turn_finished": "would ask its agent",
    "command_finished": "would run its command",
    "write": "would write a record",
}


def _edge(route: Mapping[str, Any]) -> str:
    """A way on from a socket, with its target."""
    if route["kind"] not in ("edge", "exit"):
        return f"no edge to '{route['to']}'"
    return f"the {route['when']} {route['kind']} to '{route['to']}'"


def _where(told: Mapping[str, Any]) -> str:
    if told["socket"] is None:
        return f"at record {told['n']}"
    visit = f", visit {told['visit']}" if told["visit"] else ""
    item = f", {told['itemKey']}" if told["itemKey"] else ""
    return f"at '{told['socket']}'{visit}{item}"


def _words(done: Replay, found: Mapping[str, Any]) -> str:
    visits = count(len(done.path), "visit")
    told = found["parted"]
    if done.parted is not None and not _looks_same(done.parted):
        rows = [("parted", _where(told)), ("was", told["was"]["did"]), ("now", told["now"]["did"])]
        return "\n".join(f"{label:<11}{one_line(text)}" for label, text in rows)
    if found["difference"] is not None:
        return f"{'different':<11}{one_line(found['difference'])}"
    end = "where it was interrupted" if done.status == "interrupted" else f"where it was {done.status}"
    return f"{'the same':<11}{visits}, to {end}"
