"""`materiac agents`: list the back ends, and whether they can run here."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from materiac.agents.protocol import Standing
    from materiac.cli.probing import Probed

Json = dict[str, Any]

NO_ANSWER, CANNOT_ASK = 1, 2
_CHOSEN: Final = "whoever is chosen"
_LABEL: Final = 14


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--probe",
        nargs="?",
        const=_CHOSEN,
        metavar="SPEC",
        help="ask for one word, and say what came back: the agent that is named, or the one that would "
        "answer here",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object and nothing else")


def run(options: argparse.Namespace) -> int:
    """0 listed, or the agent answered; 1 it gave no answer; 2 there is none that could be asked."""
    from materiac.cli.loading import complain

    if options.probe is None:
        return _list(as_json=options.json)
    from materiac.agents.protocol import AgentError
    from materiac.agents.several import specs_in
    from materiac.cli.answering import choices, standing_choice
    from materiac.cli.probing import probe

    spec = standing_choice() if options.probe == _CHOSEN else options.probe
    if spec is None:
        complain(choices())
        return CANNOT_ASK
    try:
        specs = list(specs_in(spec))
    except AgentError as error:
        complain(str(error))
        return CANNOT_ASK
    probed = []
    for one in specs:
        probed.append(probe(one))
        if not options.json:
            _show(probed[-1])
    return _came(probed, as_json=options.json)


def _list(*, as_json: bool) -> int:
    from materiac.agents import choose
    from materiac.cli.answering import standing_choice
    from materiac.cli.printing import print_json

    found = {name: choose.inspect(name) for name in choose.FORMS}
    chosen = standing_choice()
    if as_json:
        print_json(
            {"version": 1, "chosen": chosen, "agents": [_data(name, one) for name, one in found.items()]}
        )
        return 0
    for name, standing in found.items():
        print("\n".join(_lines(name, standing)), end="\n\n")
    print(f"{'chosen':<{_LABEL}}{_one_line(chosen) if chosen else 'nobody, where nothing else is said'}")
    return 0


def _data(name: str, standing: Standing) -> Json:
    from materiac.agents.choose import FORMS

    can = standing.abilities
    return {
        "name": name,
        "form": FORMS[name],
        "installed": standing.installed,
        "version": standing.version,
        "usable": standing.usable,
        "whyNot": standing.why_not,
        "keys": {key: bool(os.environ.get(key)) for key in standing.keys},
        "scopes": _scopes(name, standing),
        "schema": can.schema,
        "tool": can.tool_server,
        "sessions": can.sessions,
        "usage": can.usage,
    }


def _scopes(name: str, standing: Standing) -> list[str] | None:
    """The tool scopes that a back end is held to, in their order; None where that depends."""
    from materiac.shipped import BACK_ENDS, SCOPES

    if BACK_ENDS[name].scopes is None:
        return None
    return [scope for scope in (*SCOPES, "custom") if scope in standing.abilities.scopes]


def _lines(name: str, standing: Standing) -> Iterator[str]:
    from materiac.agents.choose import FORMS

    scopes = _scopes(name, standing)
    yield f"{name:<{_LABEL}}{_state(standing)}"
    for label, text in (
        ("written", FORMS[name]),
        ("held to", "that depends on what it names" if scopes is None else _held_to(scopes)),
        ("hands over", "" if scopes is None else ", ".join(_ways(standing))),
        ("keys", ", ".join(_keys(standing))),
    ):
        if text:
            yield f"  {label:<{_LABEL - 2}}{text}"


def _state(standing: Standing) -> str:
    version = f" {_one_line(standing.version)}" if standing.version else ""
    if standing.usable:
        return f"can run{version}"
    what = f"cannot run{version}" if standing.installed else "not installed"
    return what + (f": {_one_line(standing.why_not)}" if standing.why_not else "")


def _held_to(scopes: list[str]) -> str:
    return ", ".join(scopes) or "nothing: it may do more than its materia says"


def _ways(standing: Standing) -> Iterator[str]:
    yield "text"
    if standing.abilities.schema:
        yield "schema"
    if standing.abilities.tool_server:
        yield "tool"


def _keys(standing: Standing) -> Iterator[str]:
    for key in standing.keys:
        yield f"{key} ({'set' if os.environ.get(key) else 'not set'})"


def _show(probed: Probed) -> None:
    print("\n".join(probed.lines()), flush=True)


def _came(probed: list[Probed], *, as_json: bool) -> int:
    from materiac.cli.printing import print_json

    if as_json:
        print_json({"version": 1, "probes": [one.as_data() for one in probed]})
    if all(one.answered for one in probed):
        return 0
    return NO_ANSWER if all(one.made for one in probed) else CANNOT_ASK


def _one_line(text: str) -> str:
    from materiac.cli.wording import one_line

    return one_line(text)
