"""What an editor shows of a loadout, and of a list that sockets go through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from materiac.lsp.looks import Look
from materiac.lsp.mentions import Mention, list_name
from materiac.path import WORK_ITEMS

_MOST: Final = 12
"""So many names are told."""


def of_loadout(name: str, written: Any, look: Look) -> str | None:
    """A loadout of the text, or of a layer below it."""
    fields = written if isinstance(written, dict) else {}
    sockets = _object(fields, "sockets") or look.sockets.get(name)
    if sockets is None:
        return None
    parts = [f"entry `{fields['entry']}`"] if isinstance(fields.get("entry"), str) else []
    parts += [_counted(sockets, "socket")]
    parts += [_counted(loops, "loop")] if (loops := _object(fields, "loops")) else []
    about = fields.get("description")
    texts = [f"loadout **{name}**", "\n".join(f"- {part}" for part in parts)]
    return "\n\n".join([*texts, *([about] if isinstance(about, str) else [])])


def _counted(parts: Any, word: str) -> str:
    names = [f"`{part}`" for part in parts]
    more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
    return f"{len(names)} {word}{'' if len(names) == 1 else 's'}: {', '.join(names[:_MOST])}{more}"


def of_list(mention: Mention, loadout: Any) -> str:
    """A list: what plans it, and what goes through it."""
    lines = "\n".join(f"- {part}" for part in dict.fromkeys(_ways(mention.name, loadout)))
    return f"list **{mention.name}**" + (f"\n\n{lines}" if lines else "")


def _ways(name: str, loadout: Any) -> Iterator[str]:
    for id_, loop in _object(loadout, "loops").items():
        consumes, iterator = _object(loop, "consumes"), _object(loop, "iterator")
        if consumes and name == WORK_ITEMS and isinstance(consumes.get("from"), str):
            yield f"planned by `{consumes['from']}`"
        items = iterator.get("items", WORK_ITEMS if consumes else None)
        if isinstance(items, str) and list_name(items) == name:
            yield f"loop `{id_}` goes through it{_alias(iterator, consumes)}"
    for id_, socket in _object(loadout, "sockets").items():
        foreach = _object(socket, "foreach")
        if isinstance(foreach.get("items"), str) and list_name(foreach["items"]) == name:
            yield f"socket `{id_}` goes through it{_alias(foreach)}"


def _alias(*ways: Any) -> str:
    """The name that an item has on the way, if one is given."""
    given = (way["as"] for way in ways if isinstance(way.get("as"), str))
    name = next(given, None)
    return f", each item as `{name}`" if name is not None else ""


def _object(value: Any, key: str) -> dict[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}
