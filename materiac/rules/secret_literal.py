"""`secret-literal`: a secret stands in the file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from materiac.diagnostic import Bilingual, Finding, Severity
from materiac.rules.rule import FileView, Rule, Stage
from materiac.secret_shapes import is_secret, literals, names_secret
from materiac.source import Pointer


class _Node(NamedTuple):
    """An object or a list on the way down; `inside` are things that name what they are given."""

    value: Any
    key: str | int = ""
    above: _Node | None = None
    inside: bool = False

    def pointer(self, key: str | int) -> Pointer:
        """The way to a member. It is made late: it is as long as the value is deep."""
        way, node = [key], self
        while node.above is not None:
            way.append(node.key)
            node = node.above
        return tuple(reversed(way))


def check_file(file: FileView) -> Iterator[Finding]:
    waiting = [_Node(file.data)]
    while waiting:
        node = waiting.pop()
        named = _named(node)
        for key, child in node.value.items() if isinstance(node.value, dict) else enumerate(node.value):
            if isinstance(child, dict | list):
                waiting.append(_Node(child, key, node, node.inside or _is_inside(node, key)))
            elif isinstance(child, str) and (kind := _kind(child, named=key in named)):
                at = node.pointer(key)
                yield RULE.finding(f"{_words(at)} holds what looks like {kind}", at, help=_advice(file, at))


def _kind(text: str, *, named: bool) -> str | None:
    """What a text holds that is a secret; `named` where what stands before it says that it is one."""
    if named and is_secret(text):
        return "a secret"
    return next((found.kind for found in literals(text)), None)


def _is_inside(node: _Node, key: str | int) -> bool:
    top = node.above is None and key == "eventing"
    return top or (key == "params" and node.above is not None and node.above.key == "materia")


def _named(node: _Node) -> Collection[str | int]:
    """The members of an object or entries of a command that a name says are secrets: `--token`, `apiKey`."""
    value = node.value
    if isinstance(value, list):
        return {i for i, before in enumerate(value, 1) if _is_option(before)} if node.key == "command" else ()
    return {key for key in value if names_secret(key)} if node.inside else ()


def _is_option(text: Any) -> bool:
    return isinstance(text, str) and text.startswith("-") and names_secret(text)


def _words(at: Pointer) -> str:
    match at:
        case ("materia", str(name), key, *_):
            return f"'{key}' of materia '{name}'"
        case ("loadouts", str(loadout), "sockets", str(socket), *_):
            return f"socket '{socket}' of loadout '{loadout}'"
        case ("loadouts", str(loadout), *_):
            return f"loadout '{loadout}'"
    return f"'{'.'.join(map(str, at))}'"


def _advice(file: FileView, at: Pointer) -> str | Bilingual:
    kept = "keep it in a variable of the environment"
    if at[0] == "eventing":
        return f"{kept}, and name that in 'urlFromEnv' or 'headersFromEnv'"
    materia = file.materia.get(str(at[1])) if at[0] == "materia" else None
    if materia is None:
        return kept
    if materia.type == "agent":
        return f"{kept}, and name that in 'env'"
    return f"{kept}, and name that in 'env' of its 'params'"


RULE = Rule(
    "secret-literal",
    Severity.ERROR,
    "a secret stands in the file, where all who read it can see it",
    Stage.MEANING,
    check_file=check_file,
    tolerable=True,
)
