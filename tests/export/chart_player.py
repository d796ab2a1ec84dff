"""Plays state charts as they are exported, in Node: enough of SCXML for those, and no more."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree as ET

from materiac.export.scxml import NAMESPACE

_PLAYER = """
function play(chart, outputs) {
  var path = [], at = chart.initial, done = {};
  while (true) {
    while (chart.states[at].initial) at = chart.states[at].initial;
    var state = chart.states[at];
    if (state.final) return { status: at === "end" ? "complete" : at, path: path, state: chart.state() };
    state.enter();
    var way = state.ways.find(function (way) { return !way.event && way.cond(); });
    if (way) { way.act(); at = way.target; continue; }
    path.push(state.socket);
    done[state.socket] = (done[state.socket] || 0) + 1;
    var output = (outputs[state.socket] || [])[done[state.socket] - 1];
    var event = output === undefined ? "error" : "done";
    way = state.ways.find(function (way) { return way.event && way.event.startsWith(event); });
    if (output !== undefined) way.act({ data: output });
    at = way.target;
  }
}
"""


def play(charts: list[tuple[str, dict[str, list[Any]]]]) -> list[dict[str, Any]]:
    """The status, the path and the state of each chart, given the outputs of each socket in order."""
    plays = ",\n".join(f"play({_chart(text)}, {json.dumps(outputs)})" for text, outputs in charts)
    script = f"{_PLAYER}\nconsole.log(JSON.stringify([{plays}]));"
    done = subprocess.run(["node", "-"], input=script, capture_output=True, text=True, check=True, timeout=60)
    results: list[dict[str, Any]] = json.loads(done.stdout)
    return results


def _chart(text: str) -> str:
    root = ET.fromstring(text)  # noqa: S314 (made here)
    data = "".join(f"var {part.get('id')} = {part.get('expr')};\n" for part in root.iter(_tag("data")))
    functions = root.findtext(_tag("script")) or ""
    states = ",\n".join(_states(root))
    chart = f"initial: {json.dumps(root.get('initial'))}, state: function () {{ return state; }}"
    return f"(function () {{\n{data}{functions}\nreturn {{ {chart}, states: {{\n{states}\n}} }};\n}})()"


def _states(root: ET.Element) -> Iterator[str]:
    for state in root.iter():
        if state.tag == _tag("final"):
            yield f"{json.dumps(state.get('id'))}: {{ final: true }}"
        elif state.tag == _tag("state"):
            yield f"{json.dumps(state.get('id'))}: {{ {', '.join(_parts(state))} }}"


def _parts(state: ET.Element) -> Iterator[str]:
    yield f"initial: {json.dumps(state.get('initial'))}"
    yield f"socket: {_socket(state)}"
    entry = state.findtext(f"{_tag('onentry')}/{_tag('script')}") or ""
    yield f"enter: function () {{ {entry} }}"
    yield f"ways: [{', '.join(map(_way, state.findall(_tag('transition'))))}]"


def _socket(state: ET.Element) -> str:
    params = state.findall(f"{_tag('invoke')}/{_tag('param')}")
    return next((param.get("expr", "") for param in params if param.get("name") == "socket"), "null")


def _way(transition: ET.Element) -> str:
    acts = [transition.findtext(_tag("script")) or ""]
    acts += [f"{a.get('location')} = {a.get('expr')};" for a in transition.findall(_tag("assign"))]
    event, target = json.dumps(transition.get("event")), json.dumps(transition.get("target"))
    cond = transition.get("cond") or "true"
    act = f"function (_event) {{ {' '.join(acts)} }}"
    return f"{{ event: {event}, target: {target}, cond: function () {{ return {cond}; }}, act: {act} }}"


def _tag(name: str) -> str:
    return f"{{{NAMESPACE}}}{name}"
