"""A file with early forms, written in the forms of today.

`normalize` rewrites most of them, so that they can be compiled. Here the rest follows: materia without a
name get one, an early `exit` becomes an advance and an exit, a shipped script its built-in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from materiac import json_text
from materiac.diagnostic import Finding, Located, Severity, worded
from materiac.layers import Layered
from materiac.misfit import found
from materiac.names import END, Taken
from materiac.normalize import normalize
from materiac.path import WORK_ITEMS
from materiac.shipped import BUILTIN_WRITES, SCRIPTS
from materiac.source import KEY, Document, Source
from materiac.views import WORK_ITEM_INDEX

_REWRITTEN: Final = "write "
"""How the advice of a finding begins that says what an early form is written as today."""

Fields = dict[str, Any]


@dataclass(frozen=True)
class Modern:
    """The file as it is written today; None where it cannot be read.

    `named` has the names that materia without one got, by those that the compiler gives them;
    `rewritten` counts early forms, `findings` are on what has no counterpart.
    """

    data: Fields | None
    findings: tuple[Located, ...]
    rewritten: int = 0
    named: Mapping[str, str] = field(default_factory=dict)


def modernise(name: str, raw: bytes, below: Mapping[str, Any]) -> Modern:
    """Rewrite a file; `below` is the merged data of the layers below it."""
    source, findings = json_text.decode(name, raw)
    document = None
    if not findings:
        document, findings = json_text.read(source)
    if document is not None and not isinstance(document.data, dict):
        words = f"found {found(document.data)}, expected an object"
        findings = [Finding("invalid-value", Severity.ERROR, words, ())]
    if document is None or findings:
        return Modern(None, tuple(_located(document or Document(source, None, dict), findings)))
    document, findings = normalize(document, below)
    lost = [finding for finding in findings if not _is_rewritten(finding)]
    rewrite = _Rewrite(document, below, lost)
    rewrite.count = len(findings) - len(lost)
    data = rewrite.file()
    return Modern(data, tuple(_located(document, lost)), rewrite.count, rewrite.named)


def _is_rewritten(finding: Finding) -> bool:
    return (worded(finding.help, "json") or "").startswith(_REWRITTEN)


def forms_of_today(data: Fields) -> tuple[Fields, list[str]]:
    """Merged data, which `normalize` has been over, without the forms that only the compiler knows.

    The messages say what this would change in the meaning.
    """
    changes: list[Finding] = []
    rewritten = _Rewrite(Document(Source("merged", ""), data, dict), {}, changes).file()
    return rewritten, [finding.message for finding in changes]


def _located(document: Document, findings: list[Finding]) -> Iterator[Located]:
    layered = Layered(document.data, (document,))
    for finding in findings:
        related = tuple((layered.place(part.at, document), part.message) for part in finding.related)
        yield Located(finding, layered.place(finding.at, document), related)


def _object(value: Any) -> Fields:
    return value if isinstance(value, dict) else {}


@dataclass
class _Rewrite:
    document: Document
    below: Mapping[str, Any]
    findings: list[Finding]
    count: int = 0
    named: dict[str, str] = field(default_factory=dict)

    def file(self) -> Fields:
        data: Fields = self.document.data
        materia, loadouts = data.get("materia"), data.get("loadouts")
        if isinstance(materia, dict):
            self._name(materia)
            renamed = {self.named.get(name, name): self._built_in(value) for name, value in materia.items()}
            data = {**data, "materia": renamed}
        if isinstance(loadouts, dict):
            data = {**data, "loadouts": {name: self._loadout(name, part) for name, part in loadouts.items()}}
        return data

    def _name(self, materia: Fields) -> None:
        """Give names to the materia that sockets carried: those of the sockets, where they are free."""
        layered = Layered(self.document.data, (self.document,))
        taken = Taken((*materia, *_object(self.below.get("materia"))))
        for name in materia:
            if layered.is_unnamed(name):
                wanted = name.partition("/")[2].rstrip("/") or name
                self.named[name] = taken.free(wanted, "materia")

    def _built_in(self, fields: Any) -> Any:
        script = _object(_object(fields).get("script")).get("name")
        builtin = SCRIPTS.get(script) if isinstance(script, str) else None
        if builtin is None or builtin not in BUILTIN_WRITES:
            return fields
        self.count += 1
        return {"utility" if key == "script" else key: _said(key, builtin, fields) for key in fields}

    def _loadout(self, name: str, loadout: Any) -> Any:
        sockets, loops = _object(loadout).get("sockets"), _object(loadout).get("loops")
        if not isinstance(sockets, dict):
            return loadout
        sockets = {id_: self._socket(socket) for id_, socket in sockets.items()}
        if isinstance(loops, dict):
            loops = {id_: self._loop(name, id_, loop, sockets) for id_, loop in loops.items()}
        return {**loadout, "sockets": sockets} | ({} if loops is None else {"loops": loops})

    def _socket(self, socket: Any) -> Any:
        named = _object(socket).get("materia")
        if not isinstance(named, str) or named not in self.named:
            return socket
        return {**socket, "materia": self.named[named]}

    def _loop(self, loadout: str, id_: str, loop: Any, sockets: Fields) -> Any:
        early = _object(loop).get("exit")
        if not isinstance(early, dict) or not isinstance(loop.get("exits", []), list):
            return loop
        if not all(isinstance(early.get(key), str) for key in ("from", "to")):
            return loop
        rest = {key: value for key, value in loop.items() if key != "exit"}
        self._step(rest, early, sockets)
        if early["to"] != END:
            way = {"from": early["from"], "condition": early.get("when", "always")}
            return {**rest, "exits": [*rest.get("exits", []), {**way, "targetSocketId": early["to"]}]}
        self._empty(loadout, id_, rest, early)
        return rest

    def _step(self, loop: Fields, early: Fields, sockets: Fields) -> None:
        """Let the source of an early exit say itself what the exit said about it."""
        socket = sockets.get(early["from"])
        consumes, iterator = loop.get("consumes"), loop.get("iterator")
        if not isinstance(socket, dict) or (consumes is None and iterator is None):
            return
        fields = {**_object(consumes), **_object(iterator)}
        when = early.get("when", "always")
        step = {
            "cursor": fields.get("cursor", WORK_ITEM_INDEX),
            "items": _object(iterator).get("items", WORK_ITEMS),
        }
        added: Fields = {} if "advance" in socket else {"advance": step | _unless_always(when)}
        if when != "always" and early["to"] == END and not self._says_parse(socket):
            added["parse"] = "json"
        edges = {key: socket[key] for key in ("edges",) if key in socket}
        rest = {key: value for key, value in socket.items() if key != "edges"}
        sockets[early["from"]] = {**rest, **added, **edges}

    def _says_parse(self, socket: Fields) -> bool:
        names = {new: old for old, new in self.named.items()}
        materia = str(socket.get("materia"))
        own = _object(self.document.data.get("materia")).get(names.get(materia, materia))
        below = _object(self.below.get("materia")).get(materia)
        fields = {**_object(below), **_object(own)}
        return bool(socket.get("parse") or fields.get("parse") or fields.get("generator"))

    def _empty(self, loadout: str, id_: str, loop: Fields, early: Fields) -> None:
        """Say so where an empty list goes another way than the early exit sent it."""
        done = _object(loop.get("iterator")).get("done", END)
        exits = [_object(way) for way in loop.get("exits", ())]
        kept = done == END or early.get("when", "always") != "always"
        if kept or any(way.get("condition", "always") == "always" for way in exits):
            return
        words = f"an empty list led loop '{id_}' to 'end' by its exit; it now leads to '{done}'"
        at = ("loadouts", loadout, "loops", id_, "exit", KEY)
        self.findings.append(Finding("legacy-form", Severity.WARNING, words, at))


def _said(key: str, builtin: str, fields: Fields) -> Any:
    return builtin if key == "script" else fields[key]


def _unless_always(when: str) -> Fields:
    return {} if when == "always" else {"when": when}
