"""How the object of a visit is handed over: in the text of an answer, held to a schema, or through a tool."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from materiac.agents.choose import abilities_of
from materiac.agents.protocol import AgentError, Reply, ToolServer
from materiac.agents.several import agent_for
from materiac.program import Agent
from materiac.runtime.bench import Bench
from materiac.runtime.chronicle import TURN
from materiac.runtime.contract import Contract
from materiac.runtime.handoff_tool import handed_over, tool_server
from materiac.runtime.visit import Json, Visit
from materiac.runtime.wanted import NoSchemaError, schema_of, without_absent

CHOSEN: Final = "handoff_chosen"
TEXT, SCHEMA, TOOL = "text", "schema", "tool"


@dataclass(frozen=True)
class Handover:
    """A way of handing over what a contract wants. `problems` are what was wrong with how it was done."""

    kind: str = TEXT
    contract: Contract | None = None
    schema: Json | None = None
    problems: tuple[str, ...] = ()

    def as_data(self) -> Json | None:
        """The way as the record of a turn has it; nothing where the text has it all."""
        return None if self.kind == TEXT else {"kind": self.kind, "problems": list(self.problems)}

    def told(self, data: Mapping[str, Any] | None) -> Handover:
        """What came of it as a record tells."""
        return replace(self, problems=tuple(data["problems"]) if data else ())

    def server(self, folder: Path) -> ToolServer | None:
        """What serves the tool of a turn, where there is one."""
        return tool_server(folder, self.schema or {}) if self.kind == TOOL else None

    def taken(self, reply: Reply, folder: Path) -> tuple[Handover, Reply]:
        """What came of a turn: the reply has the object as its text, or it is said what was wrong."""
        data, problems = reply.data, list[str]()
        if self.kind == TOOL and data is None:
            data, problems = handed_over(folder)
        if data is not None and self.contract is not None:
            text = json.dumps(without_absent(data, self.contract), ensure_ascii=False)
            reply = replace(reply, text=text)
        return replace(self, problems=tuple(problems)), reply


def choose(bench: Bench, visit: Visit, contract: Contract) -> Handover:
    """The way that the materia asks for, if its back end knows that way; which it is, is told."""
    agent = visit.materia.agent
    told = bench.journal.told
    if told is not None:
        way = (told.fields.get("handoff") or {}) if told.type == TURN else {}
        return Handover(way.get("kind", TEXT), contract)
    if agent is None or agent.handoff == TEXT:
        return Handover(TEXT, contract)
    taken, why = _way(bench, visit, agent, contract)
    bench.journal.append(CHOSEN, sync=False, **visit.place(), wanted=agent.handoff, taken=taken.kind, why=why)
    return taken


def _way(bench: Bench, visit: Visit, agent: Agent, contract: Contract) -> tuple[Handover, str]:
    try:
        abilities = abilities_of(agent_for(bench.agent, visit.materia.name, agent.scope))
        if agent.handoff == TOOL and abilities.tool_server:
            return Handover(TOOL, contract, schema_of(contract, strict=False)), "the materia asks for it"
        if abilities.schema:
            why = "the materia asks for it" if agent.handoff == SCHEMA else "the agent takes no tool server"
            return Handover(SCHEMA, contract, schema_of(contract)), why
    except (AgentError, NoSchemaError) as error:
        return Handover(TEXT, contract), str(error)
    lacks = "takes no tool server" if agent.handoff == TOOL else "cannot be held to a schema"
    return Handover(TEXT, contract), f"the agent {lacks}"
