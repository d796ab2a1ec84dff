"""What an agent is asked: the prompt of a visit, of its repair turn, and of the end of a talk."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from materiac import path
from materiac.path import ITEM_NAMES, MISSING, OUTPUT, Path, PathError, parse_source
from materiac.program import Materia, Program, Socket
from materiac.runtime import follow_up
from materiac.runtime.contract import Contract, contract_of, needs
from materiac.runtime.follow_up import Note
from materiac.runtime.handoff import excerpt
from materiac.runtime.handoff_tool import TOOL
from materiac.runtime.items import Item
from materiac.template import fill

MAX_CONTEXT: Final = 8_000
MAX_ANSWER: Final = 600

_ANSWER: Final = (
    "Answer with exactly one JSON object and nothing else: no text before or after it, no code fence."
)
_BY_TOOL: Final = (
    f"Hand over your result with one call of the tool '{TOOL}', as the last thing that you do: an object. "
    "What you say beside it is not read."
)


@dataclass(frozen=True, slots=True)
class PromptView:
    """What a prompt is made of. `last_output` and `last_json` are for templates, `previous` is what
    may be shown of the last output, `upstream` the work items that a generator may build on, `written`
    the state keys that earlier sockets wrote, in order, `notes` why this visit is rework; `by_tool`
    says that the object is handed over through a tool."""

    program: Program
    socket: Socket
    materia: Materia
    request: str
    state: dict[str, Any]
    item: Item | None = None
    last_output: str | None = None
    last_json: Any = None
    previous: Any = None
    cursor: Callable[[str], int | None] = lambda _: None
    upstream: Sequence[Any] | None = None
    notes: Sequence[Note] = ()
    written: Sequence[str] = ()
    by_tool: bool = False


def build(view: PromptView) -> str:
    """The prompt of a visit. A socket that talks with a person is told its contract at the end only."""
    agent = view.materia.agent
    sections = (
        fill(agent.prompt, lambda name: _value(view, name)) if agent else "",
        _item(view.item),
        _upstream(view.upstream) if view.materia.generator else "",
        follow_up.section(view.notes, subject="the current item" if view.item else "earlier work"),
        _cast(view),
        _answer_format(contract_of(view.program, view.socket), view.by_tool) if _asks_json(view) else "",
    )
    return _joined(*sections)


def repair(
    prompt: str, problems: Sequence[str], answer: str, contract: Contract | None, *, by_tool: bool = False
) -> str:
    """The prompt of the repair turn: the same again, what was wrong with the answer, the contract."""
    wrong = "\n".join(["## Your last answer was refused", "", *(f"- {problem}" for problem in problems)])
    began = f"It began:\n\n{excerpt(answer.strip(), MAX_ANSWER)}" if answer.strip() else ""
    return _joined(prompt, wrong, began, _answer_format(contract, by_tool) if contract else "")


def final_form(contract: Contract | None, *, by_tool: bool = False) -> str:
    """What ends a talk; `contract` is None where the socket reads text."""
    asked = "The talk is over. Give your final answer now, complete in itself, without further questions."
    return _joined(asked, _answer_format(contract, by_tool) if contract else "")


def _joined(*sections: str) -> str:
    filled = [section.strip("\n") for section in sections]
    return "\n\n".join(section for section in filled if section.strip()) + "\n"


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _asks_json(view: PromptView) -> bool:
    agent = view.materia.agent
    return view.socket.parse == "json" and agent is not None and not agent.multi_turn


def _answer_format(contract: Contract, by_tool: bool) -> str:
    how = _BY_TOOL if by_tool else _ANSWER
    lines = [f"- {line}" for line in needs(contract)]
    fields = "\n".join([f"{how} It has:", "", *lines]) if lines else f"{how} It needs no field."
    return f"## Answer format\n\n{fields}"


def _item(item: Item | None) -> str:
    if item is None:
        return ""
    value = item.value
    if (
        isinstance(value, dict)
        and value.keys() == {"title", "context"}
        and all(map(_is_text, value.values()))
    ):
        told = f"Title: {value['title']}\n\nContext: {value['context']}"
    else:
        told = _json(value)
    return f"## Current item\n\n{told}"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _upstream(items: Sequence[Any] | None) -> str:
    return f"## Work items so far\n\n{_json(items)}" if items else ""


def _cast(view: PromptView) -> str:
    facts = [("Request", view.request), ("Socket", view.socket.id)]
    if view.item is not None:
        facts.append(("Item", view.item.key))
    state, context = _written_state(view), _newest_context(view.state)
    blocks = (
        "\n".join(f"{name}: {value}" for name, value in facts if value.strip()),
        f"State:\n\n{_json(state)}" if state else "",
        f"Context:\n\n{context}" if context.strip() else "",
        _previous(view.previous),
    )
    return "## Cast context\n\n" + _joined(*blocks)


def _written_state(view: PromptView) -> dict[str, Any]:
    """What earlier sockets wrote, without what has a place of its own in the prompt or none."""
    keys = dict.fromkeys(key.split(".")[0] for key in view.written)
    hidden = {"envelope", "workItems"} | ({"context"} if _is_text(view.state.get("context")) else set())
    return {key: view.state[key] for key in keys if key in view.state and key not in hidden}


def _newest_context(state: dict[str, Any]) -> str:
    context = state.get("context")
    if not isinstance(context, str) or len(context) <= MAX_CONTEXT:
        return context if isinstance(context, str) else ""
    return "…" + context[-MAX_CONTEXT:]


def _previous(previous: Any) -> str:
    if previous is None or previous in ("", {}):
        return ""
    return f"Previous output:\n\n{previous if isinstance(previous, str) else _json(previous)}"


def _value(view: PromptView, name: str) -> Any:
    """What a reference means: a value, None where it has none, `MISSING` where it is no reference."""
    words: dict[str, Callable[[], Any]] = {
        "request": lambda: view.request,
        "state": lambda: view.state,
        "item": lambda: view.item.value if view.item else None,
        "lastOutput": lambda: view.last_output,
        "lastJson": lambda: view.last_json,
        "cursor": lambda: _cursors(view),
        "stateJson": lambda: _json(view.state),
        "itemJson": lambda: _json(view.item.value) if view.item else None,
    }
    if name in words:
        return words[name]()
    try:
        source = parse_source(name)
    except PathError:
        return MISSING
    return MISSING if source.root == OUTPUT else _below(view, source)


def _below(view: PromptView, source: Path) -> Any:
    first, *rest = source.segments
    if source.bare and view.item is not None and first in (*ITEM_NAMES, view.item.alias):
        return _read(view.item.value, tuple(rest))
    if source.bare and not _is_known(view, first):
        return MISSING
    if source.root == "cursor":
        return view.cursor(first)
    roots = {"state": view.state, "item": view.item.value if view.item else None, "lastJson": view.last_json}
    return _read(roots[source.root], source.segments)


def _read(value: Any, segments: tuple[str, ...]) -> Any:
    found = path.read(value, segments)
    return None if found is MISSING else found


def _is_known(view: PromptView, key: str) -> bool:
    """Whether a bare word names an item or a state key, be it without a value now."""
    aliases = {loop.alias for loop in view.program.loops.values()}
    keys = {written.split(".")[0] for written in view.program.state_keys}
    return key in view.state or key in ITEM_NAMES or key in aliases or key in keys


def _cursors(view: PromptView) -> dict[str, int] | None:
    names = dict.fromkeys(loop.cursor for loop in view.program.loops.values())
    at = {name: view.cursor(name) for name in names}
    return {name: value for name, value in at.items() if value is not None} or None
