"""What a program has that a language of state charts may have no word for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from materiac.digraph import strong_components
from materiac.program import END, Image, Materia, Program, Socket


@dataclass(frozen=True, slots=True)
class Feature:
    """Something that a program has, by its kind, and in words that name where."""

    kind: str
    words: str


def features(image: Image) -> Iterator[Feature]:
    """Everything that some export cannot carry, where the program has it."""
    program = image.program
    groups = (_of_agents(program), _of_utilities(program), _of_sockets(program), _of_casts(program))
    for kind, what, names in chain.from_iterable(groups):
        listed = list(dict.fromkeys(names))
        if listed:
            yield Feature(kind, f"{what}: {_listed(listed)}")


Named = Iterator[tuple[str, str, Iterable[str]]]
_MOST = 6


def _listed(names: list[str]) -> str:
    more = [f"{len(names) - _MOST} more"] if len(names) > _MOST else []
    return ", ".join([*(f"'{name}'" for name in names[:_MOST]), *more])


def _of_agents(program: Program) -> Named:
    agents = [(m.name, m.agent) for m in program.materia.values() if m.agent is not None]
    yield "prompts", "the prompts of agents", (name for name, _ in agents)
    templates = (name for name, agent in agents if "{{" in agent.prompt)
    yield "references", "what prompts refer to in braces", templates
    tools = (name for name, agent in agents if agent.tools or agent.model or agent.thinking)
    yield "tools", "the tools and models of agents", tools
    yield "multi-turn", "the talks with a person of", (name for name, agent in agents if agent.multi_turn)
    asked = {name for name, _ in agents}
    judged = (s.id for s in program.sockets.values() if s.parse == "json" and s.materia in asked)
    yield "repair", "a second turn where an answer is not sound", judged


def _of_utilities(program: Program) -> Named:
    utilities = [m for m in program.materia.values() if m.utility is not None]
    yield "patches", "the state that utilities patch", (m.name for m in utilities)
    yield "commands", "what utilities run", (m.name for m in utilities)
    yield "timeouts", "the time limits of utilities", (m.name for m in utilities)


def _of_sockets(program: Program) -> Named:
    sockets = program.sockets.values()
    yield "assign", "the assignments of", (socket.id for socket in sockets if socket.assign)
    yield "handoff", "the contract of JSON outputs", (s.id for s in sockets if s.parse == "json")
    budgets = [(s, edge) for s in sockets for edge in s.edges if edge.max_traversals is not None]
    yield "edge-budgets", "the budgets of edges", (f"{s.id} -> {edge.to}" for s, edge in budgets)
    of_items = (f"{s.id} -> {edge.to}" for s, edge in budgets if s.loop is not None)
    yield "item-budgets", "counting the budgets of edges for each item", of_items
    yield "visit-limits", "the limits of visits of", (s.id for s in sockets if s.max_visits is not None)
    yield (
        "output-limits",
        "the limits of outputs of",
        (s.id for s in sockets if s.max_output_bytes is not None),
    )
    back = (f"{s.id} -> {edge.to}" for s in sockets for edge in s.edges if edge.when == "not_satisfied")
    yield "rework", "the reasons that are shown where work comes back", back


def _of_casts(program: Program) -> Named:
    yield "loops", "going through items in the loops", program.loops
    limits = program.budget
    limited = limits.max_tokens is not None or limits.max_cost_usd is not None
    yield "budget", "the budget of tokens and costs of", [program.name] if limited else []
    yield "stall-guard", "the guard against cycles without an advance", _unbounded(program)
    parallel = (materia.name for materia in program.materia.values() if _runs_streams(materia))
    yield "parallel", "streams side by side for", parallel
    yield "properties", "the properties of", [program.name] if program.properties else []


def _runs_streams(materia: Materia) -> bool:
    return materia.generator and materia.parallel


def _unbounded(program: Program) -> list[str]:
    """The sockets on cycles of which no edge has a budget."""
    after = {id_: list(_after(program, socket)) for id_, socket in program.sockets.items()}
    parts = strong_components(after)
    cyclic = {id_ for part in parts for id_ in part if len(part) > 1 or id_ in after[id_]}
    return [id_ for id_ in program.sockets if id_ in cyclic]


def _after(program: Program, socket: Socket) -> Iterator[str]:
    targets = [edge.to for edge in socket.edges if edge.max_traversals is None]
    loop = program.loops.get(socket.loop or "")
    if loop is not None:
        targets += [loop.empty, loop.done, *(way.to for way in loop.exits if way.source == socket.id)]
        targets += [socket.advance.done] if socket.advance and socket.advance.done else []
    return (target for target in targets if target != END)
