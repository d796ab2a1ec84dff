"""Why a visit is rework: what is kept when a `not_satisfied` edge is taken, and how it is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from materiac.runtime.contract import Accepted
from materiac.runtime.handoff import excerpt

TITLE: Final = "Runtime follow-up context"
MAX_REASON: Final = 900
MAX_SECTION: Final = 2_400
MAX_NOTES: Final = 5


@dataclass(frozen=True, slots=True)
class Note:
    """One `not_satisfied` edge that was taken: from where to where, which edge of its source, why."""

    source: str
    target: str
    edge: int
    reason: str


def reason_of(accepted: Accepted) -> str:
    """Why an output was not satisfied: its `context`, else an excerpt of it without unassigned text."""
    context = accepted.fields.get("context")
    if isinstance(context, str) and context.strip():
        return excerpt(context.strip(), MAX_REASON)
    output = {
        name: value for name, value in accepted.output.items() if name != "text" or name in accepted.shown
    }
    return excerpt(json.dumps(output, ensure_ascii=False, separators=(",", ":")), MAX_REASON)


def section(notes: Sequence[Note], *, subject: str = "the current item") -> str:
    """The section of a prompt that says why `subject` is reworked; the newest note comes last.

    Where it would be too long, whole reasons are left out from the oldest on, never the newest.
    """
    if not notes:
        return ""
    told = [f"From '{note.source}': {excerpt(note.reason, MAX_REASON)}" for note in notes[-MAX_NOTES:]]
    opening = (
        f"This visit is rework of {subject}: what was done so far was not accepted. "
        "Mend what the reasons below say; the last one is the newest."
    )
    while len(told) > 1 and len(_text(opening, told)) > MAX_SECTION:
        del told[0]
    return _text(opening, told)


def _text(opening: str, told: list[str]) -> str:
    return "\n\n".join([f"## {TITLE}", opening, *told])
