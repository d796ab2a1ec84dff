"""From a sound loadout to its program. Cannot fail: what could go wrong is an error of `check`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from materiac import model, program, shipped
from materiac.flow.regions import regions
from materiac.graph import LoadoutGraph, LoopView, SocketView
from materiac.names import END
from materiac.path import WORK_ITEMS, parse_target


def lower(graph: LoadoutGraph, frame: model.Frame, materia: Mapping[str, model.Materia]) -> program.Image:
    """Compile a loadout. `materia` holds at least those that its sockets name."""
    used = dict.fromkeys(socket.written.materia for socket in graph.sockets.values())
    compiled = program.Program(
        name=graph.name,
        entry=graph.entry,
        sockets={id_: _socket(socket) for id_, socket in graph.sockets.items()},
        materia=lower_materia({name: materia[name] for name in used}, frame),
        loops={id_: _loop(loop) for id_, loop in graph.loops.items()},
        budget=_budget(frame.budget),
        max_no_advance_cycles=frame.limits.max_no_advance_cycles,
        max_concurrency=frame.parallelism.max_concurrency,
        state_keys=tuple(dict.fromkeys(_state_keys(graph.sockets.values()))),
        properties=tuple(rule.said for rule in graph.loadout.properties),
        regions={r.generator: r for r in _regions(graph, frame)},
    )
    return program.Image(compiled, _settings(graph, frame, materia, used))


def lower_materia(materia: Mapping[str, model.Materia], frame: model.Frame) -> dict[str, program.Materia]:
    """Compile materia by their names."""
    return {name: _materia(name, part, frame.agents.handoff) for name, part in materia.items()}


def _socket(socket: SocketView) -> program.Socket:
    limits = socket.written.limits
    edges = (program.Edge(edge.when, edge.to, edge.max_traversals) for edge in socket.written.edges)
    step = socket.advance
    return program.Socket(
        id=socket.id,
        materia=socket.written.materia,
        parse=socket.parse,
        assign=tuple((part.target, part.source) for part in socket.assign),
        edges=tuple(edges),
        loop=socket.loop.id if socket.loop else None,
        advance=program.Advance(step.when, step.done) if step else None,
        max_visits=limits.max_visits if limits else None,
        max_output_bytes=limits.max_output_bytes if limits else None,
    )


def _materia(name: str, materia: model.Materia, handoff: str) -> program.Materia:
    agent = materia if isinstance(materia, model.AgentMateria) else None
    return program.Materia(
        name=name,
        label=materia.label or name,
        agent=_agent(agent, handoff) if agent else None,
        utility=_utility(materia) if isinstance(materia, model.UtilityMateria) else None,
        generator=materia.generator,
        parallel=materia.parallel,
        parallel_safe=materia.parallel_safe,
        cost=_cost(agent) if agent else None,
    )


def _agent(materia: model.AgentMateria, handoff: str) -> program.Agent:
    custom = materia.tools if isinstance(materia.tools, model.CustomTools) else None
    scope = "custom" if custom else str(materia.tools)
    return program.Agent(
        prompt=materia.prompt,
        scope=scope,
        tools=tuple(custom.tools) if custom else shipped.SCOPES[scope],
        model=materia.model,
        thinking=materia.thinking,
        multi_turn=materia.multi_turn,
        handoff=materia.handoff or handoff,
        env=tuple(sorted(set(materia.env))),
    )


def _cost(materia: model.AgentMateria) -> program.Json | None:
    if materia.cost is None:
        return None
    figures = {
        "inputTokens": materia.cost.input_tokens,
        "outputTokens": materia.cost.output_tokens,
        "usd": materia.cost.usd,
    }
    return {key: value for key, value in figures.items() if value is not None}


def builtin_of(materia: model.UtilityMateria) -> str | None:
    """The name of the built-in that a utility asks for, also where there is none of that name."""
    if materia.script is not None:
        return shipped.SCRIPTS.get(materia.script.name) or materia.script.name
    return materia.utility


def _utility(materia: model.UtilityMateria) -> program.Utility:
    asked = builtin_of(materia)
    known = asked in shipped.BUILTIN_WRITES
    return program.Utility(
        command=tuple(materia.command or ()),
        builtin=asked if known else None,
        missing=None if known else asked,
        params=materia.params,
        timeout_ms=materia.timeout_ms,
        idempotent=materia.idempotent,
    )


def _loop(loop: LoopView) -> program.Loop:
    return program.Loop(
        id=loop.id,
        sockets=loop.sockets,
        items=loop.items,
        alias=loop.alias,
        cursor=loop.cursor,
        done=loop.done or END,
        empty=loop.empty,
        exits=tuple(program.Exit(e.id, e.source, e.condition, e.to) for e in loop.exits),
        source=loop.source,
        max_concurrency=loop.max_concurrency,
        foreach=loop.foreach,
    )


def _regions(graph: LoadoutGraph, frame: model.Frame) -> Iterator[program.Region]:
    for view in regions(graph):
        loop = view.loop
        if loop is not None:
            yield program.Region(
                generator=view.generator.id,
                prelude=tuple(view.prelude),
                loop=loop.id,
                door=view.door,
                after=view.after,
                max_concurrency=loop.max_concurrency or frame.parallelism.max_concurrency,
            )


def _budget(budget: model.Budget) -> program.Budget:
    return program.Budget(
        budget.max_tokens, budget.max_cost_usd, float(budget.warn_at_percent), budget.stop_at_limit
    )


def _state_keys(sockets: Iterable[SocketView]) -> Iterator[str]:
    """The keys of the state that some socket is known to write."""
    for socket in sockets:
        yield from (parse_target(part.target)[0] for part in socket.assign)
        if isinstance(socket.materia, model.UtilityMateria):
            yield from socket.materia.writes
            yield from shipped.BUILTIN_WRITES.get(builtin_of(socket.materia) or "", ())
        if socket.parse == "json":
            yield from ("context", "envelope", WORK_ITEMS.removeprefix("state."))
        if socket.generator and socket.materia is not None and socket.materia.parallel:
            yield program.FAN_IN


def _settings(
    graph: LoadoutGraph, frame: model.Frame, materia: Mapping[str, model.Materia], used: Iterable[str]
) -> program.Settings:
    plain = {id_: tuple(loop.sockets) for id_, loop in graph.loadout.loops.items() if not loop.iterates}
    colors = {name: materia[name].color for name in used}
    eventing = frame.eventing
    return program.Settings(
        artifact_dir=frame.artifact_dir,
        agents=program.Agents(frame.agents.default, frame.agents.by_scope(), frame.agents.materia),
        recovery=_recovery(frame.recovery),
        eventing={
            "enabled": eventing.enabled,
            "sinks": {name: _sink(sink) for name, sink in eventing.sinks.items()},
            "presets": eventing.presets,
            "heartbeatIntervalMs": eventing.heartbeat_interval_ms,
        },
        groups=plain,
        colors={name: color for name, color in colors.items() if isinstance(color, str)},
        limits=program.Limits(
            max_answer_bytes=frame.limits.max_answer_bytes,
            max_prompt_bytes=frame.limits.max_prompt_bytes,
            max_items=frame.limits.max_items,
            max_journal_bytes=frame.limits.max_journal_bytes,
        ),
    )


def _recovery(recovery: model.Recovery) -> program.Recovery:
    return program.Recovery(
        attempts=recovery.attempts,
        first_pause_ms=recovery.first_pause_ms,
        longest_pause_ms=recovery.longest_pause_ms,
        deadline_ms=recovery.deadline_ms,
        tool_timeouts=recovery.tool_timeouts,
    )


def _sink(sink: model.Sink) -> dict[str, Any]:
    """The fields of a sink that say something, by their names in the file."""
    return sink.model_dump(exclude={"id", "x_materiac"}, exclude_none=True)
