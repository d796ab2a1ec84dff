"""The absolute limits of a cast: prompts, answers and lists of work items that are beyond all measure."""

from __future__ import annotations

from typing import Any

from materiac.program import Limits
from materiac.runtime.visit import VisitFailed


def check_prompt(limits: Limits, text: str) -> None:
    """Raises `VisitFailed` for a prompt that is too long to be sent."""
    words = _over("the prompt", _size(text), "bytes", limits.max_prompt_bytes, "maxPromptBytes")
    if words:
        raise VisitFailed("agent", words)


def check_answer(limits: Limits, text: str) -> None:
    """Raises `VisitFailed` for an answer that is too long to be kept."""
    words = _over("the answer", _size(text), "bytes", limits.max_answer_bytes, "maxAnswerBytes")
    if words:
        raise VisitFailed("output-limit", words)


def check_items(limits: Limits, accepted: Any) -> None:
    """Raises `VisitFailed` where an accepted object has too many work items, or puts them into the state."""
    for name, value in (("workItems", accepted), ("state.workItems", _field(accepted, "state"))):
        items = _field(value, "workItems")
        count = len(items) if isinstance(items, list) else 0
        words = _over(f"'{name}'", count, "entries", limits.max_items, "maxItems")
        if words:
            raise VisitFailed("output", words)


def _field(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _over(what: str, found: int, unit: str, allowed: int, limit: str) -> str:
    """What is said of too much; empty where it is not."""
    return f"{what} has {found} {unit}, {allowed} are allowed by 'limits.{limit}'" if found > allowed else ""
