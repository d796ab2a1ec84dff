"""`handoff.checkTitles`: are the titles of the work items headers of Conventional Commits?

A header is `type(scope)!: description`, scope and `!` optional, as in version 1.0.0 of that convention:
any word may be a type.
"""

from __future__ import annotations

import re
from typing import Any, Final

from materiac.utilities.builtins.call import UtilityError, kind

_HEADER: Final = re.compile(r"[A-Za-z][\w-]*(\([^()\r\n]*[^()\s][^()\r\n]*\))?!?: \S[^\r\n]*")


def run(call: dict[str, Any]) -> dict[str, Any]:
    """The work items unchanged, whether every title is a header, and the titles that are none."""
    state = call.get("state")
    items = state.get("workItems") if isinstance(state, dict) else None
    if not isinstance(items, list):
        raise UtilityError(f"'state.workItems' is {kind(items)}, expected a list")
    wrong = [fault for number, item in enumerate(items, 1) if (fault := _fault(number, item))]
    return {"workItems": items, "satisfied": not wrong, "context": _context(wrong)}


def _fault(number: int, item: Any) -> str | None:
    title = item.get("title") if isinstance(item, dict) else None
    if not isinstance(title, str):
        return f"WI-{number} has no title"
    return None if _HEADER.fullmatch(title) else f"WI-{number} '{title}'"


def _context(wrong: list[str]) -> str:
    if not wrong:
        return ""
    return f"titles that are no Conventional Commit header, like 'fix(parser): keep tabs': {'; '.join(wrong)}"
