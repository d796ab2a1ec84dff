"""`secret-literal`: a secret stands in the file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final, NamedTuple

from materiac.diagnostic import Bilingual, Finding, Severity
from materiac.rules.rule import FileView, Rule, Stage
from materiac.secret_shapes import is_password, is_random, is_secret, literals, names_secret
from materiac.source import KEY, Pointer

_OF_USER: Final = ("-u", "--user", "--proxy-user")


class _Node(NamedTuple):
    """An object or a list on the way down; `inside` are things that name what they are given, `named` what
    is below such a name."""

    value: Any
    key: str | int = ""
    above: _Node | None = None
    inside: bool = False
    named: bool = False

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
        for at, kind in _held(node):
            yield RULE.finding(f"{_words(at)} holds what looks like {kind}", at, help=_advice(file, at))
        named = _named(node)
        for key, child in _members(node.value):
            if isinstance(child, dict | list):
                inside = node.inside or _is_inside(node, key)
                waiting.append(_Node(child, key, node, inside, node.named or key in named))


def in_comment(words: str) -> str | None:
    """What is wrong with a comment, which is no part of a document; None where nothing is."""
    found = next(literals(words), None)
    return None if found is None else f"a comment holds what looks like {found.kind}"


def _held(node: _Node) -> Iterator[tuple[Pointer, str]]:
    """Where a secret is among the members of an object or a list, and what it looks like."""
    named = _named(node)
    users = _after_user(node)
    for key, child in _members(node.value):
        if isinstance(key, str) and (found := next(literals(key), None)):
            yield (*node.pointer(key), KEY), found.kind
        if isinstance(child, str):
            kind = _kind(child, named=key in named, below=node.named)
            if kind is None and key in users and is_password(child.partition(":")[2]):
                kind = "a password"
            if kind is not None:
                yield node.pointer(key), kind


def _kind(text: str, *, named: bool, below: bool) -> str | None:
    """What a text holds that is a secret: `named` where what stands before it says that it is one, `below`
    where what stands far before it does; then it may be a name or a place as well."""
    if (named and is_secret(text)) or (below and is_secret(text) and is_random(text)):
        return "a secret"
    return next((found.kind for found in literals(text)), None)


def _members(value: Any) -> Iterable[tuple[str | int, Any]]:
    return value.items() if isinstance(value, dict) else enumerate(value)


def _is_inside(node: _Node, key: str | int) -> bool:
    top = node.above is None and key == "eventing"
    return top or (key == "params" and node.above is not None and node.above.key == "materia")


def _named(node: _Node) -> Collection[str | int]:
    """The members of an object or entries of a command that a name says are secrets: `--token`, `apiKey`."""
    value = node.value
    if isinstance(value, list):
        return {i for i, before in enumerate(value, 1) if _is_option(before)} if node.key == "command" else ()
    return {key for key in value if names_secret(key)} if node.inside else ()


def _after_user(node: _Node) -> Collection[str | int]:
    """The entries of a command that are a name and a password."""
    if node.key != "command" or not isinstance(node.value, list):
        return ()
    return {i for i, before in enumerate(node.value, 1) if before in _OF_USER}


def _is_option(text: Any) -> bool:
    """Whether an entry of a command is an option that takes the next one; one with a `=` has its argument."""
    return isinstance(text, str) and text.startswith("-") and "=" not in text and names_secret(text)


def _words(at: Pointer) -> str:
    if at[-1] is KEY:
        return f"a key of {_words(at[:-2])}" if len(at) > 2 else "a key of the file"
    match at:
        case ("materia", str(name)):
            return f"materia '{name}'"
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
