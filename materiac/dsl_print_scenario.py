"""The values of scenarios as statements of the language; what has no syntax of its own is an attribute."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from materiac import json_print
from materiac.dsl_phrases import (
    Fields,
    are_texts,
    attribute,
    block,
    is_number,
    json,
    lines_of_block,
    name,
    options,
    text,
)

KEYS: Final = frozenset(
    {"$schema", "name", "about", "loadout", "request", "state", "agent", "utilities", "files", "person"}
    | {"expect"}
)
"""The keys of a scenario. A file of JSON may hold one that stands alone."""

_STATUS: Final = ("complete", "failed", "waiting")
_REPLIES: Final = ("text", "json", "error")
_ITEM = re.compile(r"WI-[0-9]+|[0-9]+|\*")
_PROMPT = re.compile(r"(.+)#([1-9][0-9]*)", re.DOTALL)
_INSIDE: Final = 2
_DEEP: Final = 4
_LONG: Final = 90


def stands_alone(data: Fields) -> bool:
    """Whether a whole file is one scenario, without a list around it."""
    return isinstance(data.get("name"), str) and data.keys() <= KEYS


def are_scenarios(value: Any) -> bool:
    """Whether a value is a list of scenarios that have names."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(part, dict) and isinstance(part.get("name"), str) for part in value)


def around(key: str, value: Any) -> str | None:
    """What a file says of all its scenarios."""
    if key == "about" and isinstance(value, str):
        return text(key, value)
    return _target("scenarios of", value) if key == "loadout" else None


def _target(word: str, value: Any) -> str | None:
    """Which loadout is meant, behind a word."""
    if isinstance(value, str):
        return f"{word} {name(value)}"
    found = options(value, "name", "file")
    return f"{word} {name(found['name'])} in {json_print.quoted(found['file'])}" if found else None


def scenario(fields: Fields) -> str:
    """A scenario that has a name."""
    expected = fields.get("expect")
    path = expected.get("path") if isinstance(expected, dict) else None
    order: list[str] = path if isinstance(path, list) and are_texts(path) else []
    parts = (_part(key, value, order) for key, value in fields.items() if key != "name")
    return block(f"scenario {json_print.quoted(fields['name'])}", [*chain.from_iterable(parts)], few=0)


def _part(key: str, value: Any, order: Sequence[str]) -> Iterator[str]:
    if key in ("about", "request") and isinstance(value, str):
        yield text(key, value, _INSIDE)
    elif key == "loadout":
        yield _target(key, value) or attribute(key, value, _INSIDE)
    elif key == "person" and isinstance(value, list) and value and _are_said(value):
        yield from ("person continue" if part is None else text("person", part, _INSIDE) for part in value)
    elif key == "agent" and isinstance(value, dict):
        yield block("agent", _agent(value, order), few=1)
    elif key == "utilities" and isinstance(value, dict):
        yield block("utilities", _answers(value, order), few=1)
    elif key == "expect" and isinstance(value, dict):
        yield _expect(value)
    else:
        yield from _given(key, value, _INSIDE) or [attribute(key, value, _INSIDE)]


def _are_said(value: Any) -> bool:
    return all(part is None or isinstance(part, str) for part in value)


def _given(key: str, value: Any, indent: int) -> list[str]:
    """What the state or the working folder holds, a statement each; none, if it has another shape."""
    if not isinstance(value, dict):
        return []
    if key == "state":
        if "" in value:  # which is no path
            return []
        return [json(f"state {_key(part)} =", inner, indent) for part, inner in value.items()]
    if key == "files" and are_texts([*value.values()]):
        return [text(f"file {name(part)}", inner, indent) for part, inner in value.items()]
    return []


def _key(key: str) -> str:
    return json_print.quoted(key) if "." in key else name(key)


# Answers.


def _agent(fields: Fields, order: Sequence[str]) -> list[str]:
    settings: list[str] = []
    answers: list[str] = []
    for key, value in fields.items():
        reply = _reply(value, _DEEP) if key == "default" else None
        if key == "sockets" and isinstance(value, dict) and value:
            answers += _answers(value, order)
        elif reply is not None:
            answers.append(f"default {reply}")
        elif key == "description" and isinstance(value, str):
            settings.append(text(key, value, _DEEP))
        else:
            settings.append(_time("delay", key, value) or attribute(key, value, _DEEP))
    return [*settings, *answers]


def _time(word: str, key: str, value: Any) -> str | None:
    whole = key == "delayMs" and type(value) is int and value >= 0
    return f"{word} {value}ms" if whole else None


def _answers(sockets: Fields, order: Sequence[str]) -> list[str]:
    """A statement for each answer, in the order of a path as far as that goes."""
    left = {socket: _of_socket(name(socket), value)[::-1] for socket, value in sockets.items()}
    ordered = [left[socket].pop() for socket in order if left.get(socket)]
    return [*ordered, *(statement for rest in left.values() for statement in rest[::-1])]


def _of_socket(head: str, value: Any) -> list[str]:
    replies = _replies(value)
    if replies:
        return [f"{head}: {reply}" for reply in replies]
    if isinstance(value, dict) and value and all(map(_ITEM.fullmatch, value)):
        of_items = {item: _replies(answers) for item, answers in value.items()}
        if all(of_items.values()):
            return [f"{head}: item {name(item)} {reply}" for item in of_items for reply in of_items[item]]
    return [json(f"{head} =", value, _DEEP)]


def _replies(value: Any) -> list[str]:
    """An answer, or a list of several, in words; nothing, where there are none for one of them."""
    if isinstance(value, list) and len(value) < 2:
        return []
    found = [_reply(part, _DEEP) for part in (value if isinstance(value, list) else [value])]
    replies = [reply for reply in found if reply is not None]
    return replies if len(replies) == len(found) else []


def _reply(value: Any, indent: int) -> str | None:
    if isinstance(value, str):
        return _text(value)
    kinds = [key for key in _REPLIES if key in value] if isinstance(value, dict) else []
    if len(kinds) != 1:
        return None
    beside = [part for key, inner in value.items() if key != kinds[0] for part in _beside(key, inner)]
    said = _said(kinds[0], value[kinds[0]], indent, alone=not beside)
    if said is None:
        return None
    line = " ".join([said, *beside])
    return line if len(line) <= _LONG and "\n" not in line else "\n".join([said, *beside])


def _said(kind: str, value: Any, indent: int, *, alone: bool) -> str | None:
    if kind == "json":
        return json_print.value(value, indent, indent) if isinstance(value, dict) else None
    word = "fails " if kind == "error" else "text " if alone else ""
    return f"{word}{_text(value)}" if isinstance(value, str) else None


def _text(value: str) -> str:
    return lines_of_block(value, 0) if "\n" in value or len(value) > _LONG else json_print.quoted(value)


def _beside(key: str, value: Any) -> list[str]:
    given = _given(key, value, _DEEP) if key == "files" else []
    if given:
        return given
    if key == "usage":
        return [json(key, value, _DEEP)]
    return [_time("after", key, value) or attribute(key, value, _DEEP)]


# Expectations.


def _expect(fields: Fields) -> str:
    head, rest = "expect", dict(fields)
    if fields.get("status") in _STATUS:
        head += f" {rest.pop('status')}"
    failure = _failure(fields.get("failure"))
    if failure is not None:
        head += f" {'with' if 'status' not in rest and 'status' in fields else 'failure'} {failure}"
        rest.pop("failure")
    parts = [part for key, value in rest.items() for part in _expected(key, value)]
    return block(head, parts, few=1) if parts or head == "expect" else head


def _failure(value: Any) -> str | None:
    if isinstance(value, str):
        return _kind(value)
    if not isinstance(value, dict) or "has" not in value or not value.keys() <= {"kind", "has"}:
        return None
    kind, wanted = value.get("kind", ""), _wanted({"has": value["has"]})
    if wanted is None or not isinstance(kind, str):
        return None
    return f"{_kind(kind)} {wanted}" if "kind" in value else wanted


def _kind(kind: str) -> str:
    return json_print.quoted(kind) if kind in ("has", "lacks") else name(kind)


def _wanted(value: Any) -> str | None:
    """The texts that something has and lacks, if they have the shape of that."""
    if not isinstance(value, dict) or not value or not value.keys() <= {"has", "lacks"}:
        return None
    if not all(isinstance(part, str | list) for part in value.values()):
        return None
    return " ".join(
        f"{word} {_text(part) if isinstance(part, str) else json_print.value(part, _DEEP, _DEEP)}"
        for word, part in value.items()
    )


def _expected(key: str, value: Any) -> Sequence[str]:
    if key in ("path", "pathHas") and are_texts(value) and value:
        return [_way("path" if key == "path" else "passes", value)]
    if key == "items" and isinstance(value, list) and value and _are_said(value):
        return [f"items {_filled([_item(part) for part in value], ', ')}"]
    if key == "visits" and isinstance(value, dict) and value and all(map(is_number, value.values())):
        counts = [f"{name(socket)} {json_print.value(n, 0, 0)}" for socket, n in value.items()]
        return [f"visits {_filled(counts, ', ')}"]
    if key == "turns" and is_number(value):
        return [f"at most {json_print.value(value, 0, 0)} turns"]
    if isinstance(value, dict) and value:
        return _members(key, value) or [attribute(key, value, _DEEP)]
    return [attribute(key, value, _DEEP)]


def _way(word: str, sockets: Sequence[str]) -> str:
    return f"{word} {_filled([name(socket) for socket in sockets], ' -> ')}"


def _item(item: str | None) -> str:
    if item is None:
        return "none"
    return json_print.quoted(item) if item == "none" else name(item)


def _filled(words: Sequence[str], sign: str) -> str:
    """Words with a sign between them, in lines that are not too long."""
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + len(sign) + len(word) > _LONG:
            lines[-1] += sign.rstrip() if sign.startswith(",") else ""
            lines.append(word if sign.startswith(",") else f"{sign.lstrip()}{word}")
        else:
            lines[-1] += f"{sign}{word}"
    return "\n".join(lines)


def _members(key: str, value: Mapping[str, Any]) -> list[str]:
    """A statement for each member of `state`, `prompts` or `files`; none, if one has another shape."""
    if key == "state":
        return _given(key, value, _DEEP)
    if key == "files":
        return [
            f"no file {name(file)}" if wanted is None else _looked_at(f"file {name(file)}", wanted)
            for file, wanted in value.items()
        ]
    prompts = [_PROMPT.fullmatch(part) for part in value] if key == "prompts" else []
    told = [_wanted(part) for part in value.values()]
    if not all(prompts) or not all(told):
        return []
    heads = [f"prompt {name(match[1])} {match[2]}" for match in prompts if match]
    return [f"{head} {wanted}" for head, wanted in zip(heads, told, strict=bool(heads))]


def _looked_at(head: str, value: Any) -> str:
    wanted = _wanted(value)
    return f"{head} {wanted}" if wanted is not None else json(f"{head} =", value, _DEEP)
