"""The value of a document as a text of the language: the same value comes back when the text is read.

What has no syntax of its own, or not the shape that the syntax is for, is written as an attribute. Lines
are broken here and not indented: the layout sees to that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from materiac import dsl_print_scenario, json_print
from materiac.dsl_phrases import (
    Fields,
    are_texts,
    attribute,
    block,
    directives,
    is_number,
    json,
    name,
    options,
    phrases,
    text,
)
from materiac.dsl_tree import WORD
from materiac.source import Pointer

_VERDICTS: Final = ("always", "satisfied", "not_satisfied")
_FLAGS: Final = ("generator", "parallel", "parallelSafe", "multiTurn", "idempotent")
_BARE: Final = frozenset({"tools", "thinking", "utility", "parse", "handoff"})
_TEXTS: Final = frozenset({*_BARE, "prompt", "command", "model", "label", "description"})
_OF_SOCKET: Final = frozenset({"json", "text", "visits", "bytes", "assign", "foreach", "advance", *_VERDICTS})
"""Words that are no names behind the colon of a socket."""

_SETTINGS: Final = frozenset(
    {"maxTokens", "maxCostUsd", "warnAtPercent", "stopAtLimit", "maxNoAdvanceCycles", "maxConcurrency"}
    | {"maxAnswerBytes", "maxPromptBytes", "maxItems", "maxJournalBytes"}
)
_OUTPUT: Final = ".workItems"
_INSIDE: Final = 2
_FEW: Final = 3
_SHORT: Final = 72


def written(data: Fields) -> str:
    """The text of a whole file."""
    if dsl_print_scenario.stands_alone(data):
        return f"{dsl_print_scenario.scenario(data)}\n"
    statements = [line for key, value in data.items() for line in _of_file(key, value)]
    text = ""
    for index, statement in enumerate(statements):
        apart = "\n" if index and "\n" in statement + statements[index - 1] else ""
        text += f"{apart}{statement}\n"
    return text


def statement(at: Pointer, key: str, value: Any) -> str | None:
    """A new member of what is at a pointer, or a new entry, whose key does not count.

    None for what no statement writes.
    """
    # Every other part of a pointer is a name or an index; the last one is, where it leads to a member.
    write = _STATEMENTS.get((*at[::2], None) if len(at) % 2 == 0 else at[::2])
    return write(key, value) if write is not None else None


def _socket_part(key: str, value: Any) -> str:
    if key == "materia" and isinstance(value, str):
        return json_print.quoted(value) if value in _OF_SOCKET else name(value)
    if key == "parse" and value in ("json", "text"):
        return str(value)
    if key == "edges" and _are_edges(value):
        return "\n".join(map(_edge, value))
    return "  ".join(_of_socket(key, value))


def _loop_part(key: str, value: Any) -> str:
    if key == "exits" and isinstance(value, list) and all(map(_is_exit, value)):
        return "  ".join(map(_exit, value))
    return _of_loop(key, value)


def _edge_part(key: str, value: Any) -> str:
    if key == "when" and value in _VERDICTS:
        return str(value)
    return f"max {value}" if key == "maxTraversals" and is_number(value) else attribute(key, value)


def _of_file(key: str, value: Any) -> Iterator[str]:
    if key == "import" and are_texts(value) and value:
        yield from (f"import {json_print.quoted(path)}" for path in value)
    elif key == "artifactDir" and isinstance(value, str):
        yield f"artifacts {json_print.quoted(value)}"
    elif key == "activeLoadout" and isinstance(value, str):
        yield f"active {name(value)}"
    elif key in ("budget", "limits", "parallelism") and isinstance(value, dict):
        yield block(key, [json(_key(inner), part, _INSIDE) for inner, part in value.items()], few=_FEW)
    elif key in ("agents", "recovery", "eventing"):
        yield json(key, value)
    elif key in ("loadouts", "materia") and isinstance(value, dict) and value:
        write = _loadout if key == "loadouts" else _materia
        yield from (_named(key.removesuffix("s"), inner, part, write) for inner, part in value.items())
    elif key == "scenarios" and dsl_print_scenario.are_scenarios(value):
        yield from map(dsl_print_scenario.scenario, value)
    else:
        yield dsl_print_scenario.around(key, value) or attribute(key, value)


def _key(key: str) -> str:
    """The key of a setting. Behind a value, a word that is a keyword anywhere is none."""
    return key if key in _SETTINGS else json_print.quoted(key)


def _named(word: str, key: str, value: Any, write: Callable[[str, Fields], str | None]) -> str:
    """A statement with a name: with its own syntax, else with '='."""
    head = f"{word} {name(key)}".lstrip(" ")
    if isinstance(value, dict):
        before, fields = directives(value)
        statement = write(head, fields)
        if statement is not None:
            return before + statement
    return json(f"{head} =", value, _INSIDE)


# Loadouts.


def _loadout(head: str, fields: Fields) -> str:
    first: list[str] = []
    members: list[str] = []
    for key, value in fields.items():
        if key == "sockets" and isinstance(value, dict) and value:
            members += ["", *(_named("", inner, part, _socket) for inner, part in value.items())]
        elif key == "loops" and isinstance(value, dict) and value:
            members += ["", *(_named("loop", inner, part, _loop) for inner, part in value.items())]
        elif key == "properties" and isinstance(value, list) and value:
            members += ["", *(_property(part) for part in value)]
        else:
            first.append(_loadout_part(key, value))
    return block(head, [*first, *members], few=0)


def _loadout_part(key: str, value: Any) -> str:
    if key == "entry" and isinstance(value, str):
        return f"entry {name(value)}"
    if key == "description" and isinstance(value, str):
        return text("description", value, _INSIDE)
    return attribute(key, value, _INSIDE)


def _socket(head: str, fields: Fields) -> str | None:
    materia = fields.get("materia")
    if isinstance(materia, str):
        quoted = materia in _OF_SOCKET or not WORD.fullmatch(materia)
        head = f"{head}: {json_print.quoted(materia) if quoted else materia}"
    elif fields:
        head = f"{head}:"
    else:
        return None
    if fields.get("parse") in ("json", "text"):
        head += f" {fields['parse']}"
    parts = [part for key, value in fields.items() for part in _of_socket(key, value)]
    edges = [_edge(edge) for edge in fields["edges"]] if _are_edges(fields.get("edges")) else []
    line = " ".join([head, *parts, *edges])
    if len(parts) + len(edges) <= 1 and "\n" not in line and len(line) <= _SHORT:
        return line
    return "\n".join([head, *parts, *edges])


def _of_socket(key: str, value: Any) -> Iterator[str]:
    """The parts of a socket, but what its first words say and its edges."""
    if (key == "materia" and isinstance(value, str)) or (key == "parse" and value in ("json", "text")):
        return
    if key == "edges" and _are_edges(value):
        return
    if key == "assign" and isinstance(value, dict) and value and are_texts([*value.values()]):
        yield from _assigns(value)
    else:
        yield _limits(key, value) or _steps(key, value) or attribute(key, value, _INSIDE * 2)


def _assigns(value: dict[str, str]) -> Iterator[str]:
    return (f"assign {name(target)} = {name(source)}" for target, source in value.items())


def _limits(key: str, value: Any) -> str | None:
    words = {"maxVisits": "visits", "maxOutputBytes": "bytes"}
    if key != "limits" or not isinstance(value, dict) or not value or not value.keys() <= words.keys():
        return None
    if not all(is_number(number) for number in value.values()):
        return None
    return "  ".join(f"{words[limit]} {json_print.value(number, 0, 0)}" for limit, number in value.items())


def _steps(key: str, value: Any) -> str | None:
    if key == "foreach":
        found = options(value, "items", allowed=("as", "cursor", "done"))
        if found is not None:
            return f"foreach {name(found['items'])}{phrases(('as', 'cursor', 'done'), found)}"
    if key == "advance":
        found = options(value, "cursor", "items", allowed=("when", "done"))
        if found is not None and found.get("when", "always") in _VERDICTS:
            over = f"advance {name(found['cursor'])} over {name(found['items'])}"
            return over + phrases(("when", "done"), found)
    return None


def _are_edges(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(_is_way(edge, "to", "when") for edge in value)


def _is_way(value: Any, to: str, when: str) -> bool:
    return (
        isinstance(value, dict) and isinstance(value.get(to), str) and value.get(when, "always") in _VERDICTS
    )


def _edge(edge: Fields) -> str:
    before, fields = directives(edge)
    words = [*([fields["when"]] if "when" in fields else []), "->", name(fields["to"])]
    rest = {key: value for key, value in fields.items() if key not in ("when", "to")}
    if is_number(rest.get("maxTraversals")):
        words += ["max", json_print.value(rest.pop("maxTraversals"), 0, 0)]
    words += [attribute(key, value, _INSIDE * 3) for key, value in rest.items()]
    return ("\n" + before if before else "") + " ".join(words)


# Loops and properties.


def _loop(head: str, fields: Fields) -> str | None:
    sockets = fields.get("sockets")
    if not isinstance(sockets, list) or not are_texts(sockets):
        return None
    head = f"{head} ({', '.join(map(name, sockets))})"
    first: list[str] = []
    exits: list[str] = []
    for key, value in fields.items():
        over = _over(value) if key == "consumes" else None
        if over is not None:
            head += over
        elif key == "exits" and isinstance(value, list) and value and all(map(_is_exit, value)):
            exits = [_exit(exit_) for exit_ in value]
        elif key != "sockets":
            first.append(_of_loop(key, value))
    return block(head, [*first, *exits], few=1) if first or exits else head


def _over(value: Any) -> str | None:
    found = options(value, "from", allowed=("output", "as", "cursor"))
    if found is None or found.get("output", _OUTPUT[1:]) != _OUTPUT[1:]:
        return None
    source, output = found["from"], "output" in found
    ambiguous = source.endswith(_OUTPUT) and not output
    word = json_print.quoted(source) if ambiguous else name(source)
    return f" over {word}{_OUTPUT if output else ''}{phrases(('as', 'cursor'), found)}"


def _is_exit(value: Any) -> bool:
    return _is_way(value, "targetSocketId", "condition") and isinstance(value.get("from"), str)


def _exit(exit_: Fields) -> str:
    guard = f" {exit_['condition']}" if "condition" in exit_ else ""
    rest = {key: value for key, value in exit_.items() if key not in ("from", "condition", "targetSocketId")}
    attributes = [attribute(key, value, _INSIDE * 3) for key, value in rest.items()]
    return " ".join([f"exit {name(exit_['from'])}{guard} -> {name(exit_['targetSocketId'])}", *attributes])


def _of_loop(key: str, value: Any) -> str:
    if key == "iterator":
        found = options(value, "items", allowed=("as", "cursor", "done"))
        if found is not None:
            return f"items {name(found['items'])}{phrases(('as', 'cursor', 'done'), found)}"
    match key, value:
        case "parallel", {"maxConcurrency": number, **rest} if is_number(number) and not rest:
            return f"parallel {json_print.value(number, 0, 0)}"
    return attribute(key, value, _INSIDE * 2)


def _property(value: Any) -> str:
    before, said = directives(value) if isinstance(value, dict) else ("", value)
    return before + _said_of_casts(said)


def _said_of_casts(value: Any) -> str:
    match value:
        case {"never": str(one), "before": str(other), **rest} if not rest:
            return f"never {name(one)} before {name(other)}"
        case {"every path": [str(one), str(other)], "passes": str(way), **rest} if not rest:
            return f"every path {name(one)} to {name(other)} passes {name(way)}"
        case {"after every": str(one), "comes": str(other), **rest} if not rest:
            return f"after every {name(one)} comes {name(other)}"
        case {"at most": n, "of": str(of), "between": [str(one), str(other)], **rest} if (
            is_number(n) and not rest
        ):
            most = json_print.value(n, 0, 0)
            return f"at most {most} of {name(of)} between {name(one)} and {name(other)}"
    return json("property", value, _INSIDE)


# Materia.


def _materia(head: str, fields: Fields) -> str:
    if fields.get("type") in ("agent", "utility"):
        head += f" {fields['type']}"
    head += "".join(f" {flag}" for flag in _FLAGS if fields.get(flag) is True)
    parts = [part for key, value in fields.items() for part in _of_materia(key, value)]
    return block(head, parts, few=_FEW)


def _of_materia(key: str, value: Any) -> Iterator[str]:
    """The parts of a materia, but what its first words say."""
    if (key in _FLAGS and value is True) or (key == "type" and value in ("agent", "utility")):
        return
    if key in _TEXTS and isinstance(value, str):
        bare = key in _BARE and WORD.fullmatch(value)
        yield f"{key} {value}" if bare else text(key, value, _INSIDE)
    elif key == "assign" and isinstance(value, dict) and value and are_texts([*value.values()]):
        yield from _assigns(value)
    elif key in ("params", "cost", "script"):
        yield json(key, value, _INSIDE)
    else:
        yield _list(key, value) or _time(key, value) or attribute(key, value, _INSIDE)


def _list(key: str, value: Any) -> str | None:
    match key, value:
        case "tools", {"type": "custom", "tools": names, **rest} if are_texts(names) and not rest:
            return f"tools [{', '.join(map(name, names))}]"
        case "writes" | "env", _ if are_texts(value):
            return f"{key} [{', '.join(map(name, value))}]"
        case "command", _ if are_texts(value):
            return json(key, value, _INSIDE)
    return None


def _time(key: str, value: Any) -> str | None:
    if key != "timeoutMs" or type(value) is not int or value < 0:
        return None
    return f"timeout {value // 1000}s" if value % 1000 == 0 else f"timeout {value}ms"


def _setting(key: str, value: Any) -> str:
    return json(_key(key), value)


_STATEMENTS: Final[dict[tuple[Any, ...], Callable[[str, Any], str | None]]] = {
    (None,): lambda key, value: "\n".join(_of_file(key, value)),
    ("loadouts",): lambda key, value: _named("loadout", key, value, _loadout),
    ("materia",): lambda key, value: _named("materia", key, value, _materia),
    ("budget",): _setting,
    ("limits",): _setting,
    ("parallelism",): _setting,
    ("materia", None): lambda key, value: "  ".join(_of_materia(key, value)),
    ("loadouts", None): _loadout_part,
    ("loadouts", "sockets", None): _socket_part,
    ("loadouts", "sockets", "limits"): lambda key, value: _limits("limits", {key: value}),
    ("loadouts", "sockets", "edges"): lambda _, edge: _edge(edge) if _is_way(edge, "to", "when") else None,
    ("loadouts", "sockets", "edges", None): _edge_part,
    ("loadouts", "loops", None): _loop_part,
    ("loadouts", "loops", "exits"): lambda _, exit_: _exit(exit_) if _is_exit(exit_) else None,
}
"""How what is new is written, by the names on the way to what it is written in; None is a name of its own."""
