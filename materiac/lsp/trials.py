"""Fixes that are tried before they are offered: they hold where looking again finds nothing new."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from materiac import json_text
from materiac.diagnostic import Located
from materiac.fixing.pieces import TextEdit, edited
from materiac.fixing.rounds import mend, objection
from materiac.lsp.looks import Job, Trials
from materiac.source import Source

Trial = Callable[[str], Sequence[Located]]
"""What is found in another text of a file. Raises `LateError`."""


class LateError(Exception):
    """There is no time left to look again."""


def held(
    asked: Trials, found: Sequence[Located], proved: dict[tuple[TextEdit, ...], str], look: Trial
) -> list[str | None]:
    """Why each fix does not hold, the empty text where it does; None where time was up.

    What is `proved` is not looked at again.
    """
    text = _text(asked.job)
    for located, edits in asked.fixes:
        try:
            if edits not in proved:
                after = look(edited(text, edits))
                proved[edits] = objection(found, after, [located], unsafe=not _is_safe(located)) or ""
        except LateError:
            break
    return [proved.get(edits) for _, edits in asked.fixes]


def mended(job: Job, look: Trial) -> str | None:
    """A text with all fixes made that are safe and hold; None where there was no time for all."""
    try:
        return mend(Source(job.name, _text(job), job.language), look, unsafe=False).text
    except LateError:
        return None


def _is_safe(located: Located) -> bool:
    return located.finding.fix is not None and located.finding.fix.safe


def _text(job: Job) -> str:
    return json_text.decode(job.name, job.raw)[0].text
