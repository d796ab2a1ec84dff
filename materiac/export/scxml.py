"""A program as a state chart in SCXML, whose datamodel is ECMAScript.

Each socket is a state of two parts: in `work` its materia is invoked, in `route` the first transition
whose condition holds is taken. The functions that keep cursors and state are in `scxml.js`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

from materiac.path import ITEM_NAMES, parse_source, parse_target
from materiac.program import END, Image, Loop, Program, Socket

NAMESPACE: Final = "http://www.w3.org/2005/07/scxml"
FAILED: Final = "failed"

_FUNCTIONS: Final = Path(__file__).with_name("scxml.js")
_START: Final = (
    "_A-Za-zÀ-ÖØ-öø-\u02ff\u0370-\u037d\u037f-\u1fff\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd"
)
_NAME: Final = re.compile(
    rf"[{_START}\U00010000-\U000effff][-.0-9·\u0300-\u036f{_START}\U00010000-\U000effff]*"
)
_GUARDS: Final = {"satisfied": "verdict === true", "not_satisfied": "verdict === false", "always": ""}


def render(image: Image) -> str:
    """The document, indented."""
    ET.register_namespace("", NAMESPACE)
    root = _Chart(image.program).build()
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


class _Ids:
    """Names that XML takes as ids, each given once."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def take(self, wanted: str) -> str:
        id_ = wanted if _NAME.fullmatch(wanted) else f"_{len(self._taken)}"
        while id_ in self._taken:
            id_ += "_"
        self._taken.add(id_)
        return id_


class _Chart:
    """The elements of one program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        ids = _Ids()
        self.end, self.failed = ids.take(END), ids.take(FAILED)
        self.ids = {END: self.end} | {id_: ids.take(id_) for id_ in program.sockets}
        self.parts = {
            id_: tuple(ids.take(f"{self.ids[id_]}.{part}") for part in ("work", "route", "perform"))
            for id_ in program.sockets
        }
        self.loops = {id_: ids.take(f"loop.{id_}") for id_ in program.loops}

    def build(self) -> ET.Element:
        name = re.sub(r"[^\w.-]", "_", self.program.name)
        root = _element("scxml", version="1.0", name=name, datamodel="ecmascript")
        root.set("initial", self.ids[self.program.entry])
        _add(root, "datamodel").extend(self._data())
        _add(root, "script").text = f"\n{_FUNCTIONS.read_text(encoding='utf-8')}"
        members = {id_ for loop in self.program.loops.values() for id_ in loop.sockets}
        for loop in self.program.loops.values():
            state = _add(root, "state", id=self.loops[loop.id])
            state.extend(self._socket(self.program.sockets[id_]) for id_ in loop.sockets)
        root.extend(self._socket(s) for id_, s in self.program.sockets.items() if id_ not in members)
        _add(root, "final", id=self.end)
        _add(root, "final", id=self.failed)
        return root

    def _data(self) -> Iterator[ET.Element]:
        loops = {loop.id: _place(loop) for loop in self.program.loops.values()}
        values: dict[str, Any] = {
            "request": "", "state": {}, "output": None, "verdict": None, "lastOutput": None, "lastJson": None,
            "usedUp": False, "found": True, "item": "", "value": None, "clock": 0,
            "visits": {}, "taken": {}, "loops": loops,
        }  # fmt: skip
        for id_, value in values.items():
            yield _element("data", id=id_, expr=_js(value))

    def _socket(self, socket: Socket) -> ET.Element:
        work, route, _ = self.parts[socket.id]
        state = _element("state", id=self.ids[socket.id], initial=work)
        state.append(self._work(socket))
        _add(state, "state", id=route).extend(_takable(self._routes(socket)))
        return state

    def _work(self, socket: Socket) -> ET.Element:
        work, route, perform = self.parts[socket.id]
        state = _element("state", id=work)
        _add(_add(state, "onentry"), "script").text = f"come({_js(socket.id)}, {_js(socket.loop)});"
        if socket.loop is not None:
            _add(state, "transition", cond="!found", target=self.ids[self.program.loops[socket.loop].empty])
        if socket.max_visits is not None:
            over = f"visits[{_js(socket.id)}] > {socket.max_visits}"
            _add(state, "transition", cond=over, target=self.failed)
        done = _add(state, "transition", event=f"done.invoke.{perform}", target=route)
        _add(done, "script").text = "\n".join(["", *self._taking(socket), ""])
        _add(state, "transition", event="error", target=self.failed)
        state.append(self._invoke(socket, perform))
        return state

    def _invoke(self, socket: Socket, perform: str) -> ET.Element:
        materia = self.program.materia[socket.materia]
        invoke = _element("invoke", id=perform, type="materia", src=f"#{_fragment(materia.name)}")
        words = {"kind": "utility" if materia.agent is None else "agent", "reads": socket.parse}
        for name, value in {"socket": socket.id, "materia": materia.name, **words}.items():
            _add(invoke, "param", name=name, expr=_js(value))
        for name in ("request", "state", "value", "lastOutput"):
            _add(invoke, "param", name="item" if name == "value" else name, expr=name)
        return invoke

    def _taking(self, socket: Socket) -> Iterator[str]:
        """What is done with an output: kept, assigned, and the cursor stepped."""
        materia = self.program.materia[socket.materia]
        if socket.parse == "json":
            label = f"[{socket.id} {materia.label}] "
            flags = f"{_js(materia.generator)}, {_js(materia.utility is not None)}"
            yield f"takeObject(_event.data, {_js(label)}, {flags});"
        else:
            yield "takeText(_event.data);"
        for target, source in socket.assign:
            yield f"assign({_js(list(parse_target(target)))}, {self._read(source, socket)});"
        if socket.advance is not None:
            guard = _GUARDS[socket.advance.when]
            yield f"{f'if ({guard}) ' if guard else ''}advance({_js(socket.loop)});"
        if materia.generator:
            fed = (loop.id for loop in self.program.loops.values() if loop.source == socket.id)
            yield from (f"loops[{_js(id_)}].underWay = false;" for id_ in fed)

    def _read(self, source: str, socket: Socket) -> str:
        path = parse_source(source)
        root, segments = path.root, path.segments
        loop = self.program.loops.get(socket.loop or "")
        if loop is not None and path.bare and segments[0] in (*ITEM_NAMES, loop.alias):
            root, segments = "item", segments[1:]
        return f"read({_js(root)}, {_js(list(segments))}, {_js(socket.loop)})"

    def _routes(self, socket: Socket) -> Iterator[ET.Element]:
        loop = self.program.loops.get(socket.loop or "")
        if loop is not None and socket.advance is not None:
            mine = [way for way in loop.exits if way.source == socket.id]
            for way in sorted(mine, key=lambda way: way.condition == "always"):
                yield self._transition(way.to, "usedUp", _GUARDS[way.condition])
            yield self._transition(socket.advance.done or loop.done, "usedUp")
        for index, edge in enumerate(socket.edges):
            guard = _GUARDS[edge.when]
            key = f"{_js(f'{socket.id} {index} ')} + item"
            if edge.max_traversals is not None:
                spent = f"(taken[{key}] || 0) >= {edge.max_traversals}"
                yield self._transition(FAILED, guard, spent)
            step = self._transition(edge.to, guard)
            if edge.max_traversals is not None:
                _add(step, "assign", location=f"taken[{key}]", expr=f"(taken[{key}] || 0) + 1")
            yield step
        yield self._transition(END)

    def _transition(self, to: str, *guards: str) -> ET.Element:
        step = _element("transition")
        if any(guards):
            step.set("cond", " && ".join(filter(None, guards)))
        step.set("target", self.failed if to == FAILED and FAILED not in self.ids else self.ids[to])
        return step


def _takable(transitions: Iterable[ET.Element]) -> Iterator[ET.Element]:
    """Transitions up to the first that is always taken, without those that an earlier one forestalls."""
    seen = set()
    for transition in transitions:
        guard = transition.get("cond")
        if guard not in seen:
            yield transition
        seen.add(guard)
        if guard is None:
            return


def _place(loop: Loop) -> dict[str, Any]:
    path = parse_source(loop.items)
    place = {"name": loop.cursor, "root": path.root, "path": list(path.segments)}
    return place | {"cursor": 0, "run": 0, "underWay": False, "entered": 0}


def _js(value: Any) -> str:
    """A value as a literal of ECMAScript, in ASCII."""
    return json.dumps(value)


def _fragment(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-._" else "".join(f"%{b:02X}" for b in c.encode()) for c in name)


def _element(tag: str, **attributes: str) -> ET.Element:
    return ET.Element(f"{{{NAMESPACE}}}{tag}", attributes)


def _add(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    child = _element(tag, **attributes)
    parent.append(child)
    return child
