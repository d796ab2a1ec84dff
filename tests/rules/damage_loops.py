"""Damage to loops, generators and streams."""

from __future__ import annotations

from typing import Final

from damage import KEY, Case, Damage, Expected

from materiac.source import Pointer

LOOPS: Final = ("work", "rooms")


def _loop(case: Case) -> str:
    return case.sound.random.choice(LOOPS)


def lead_away(case: Case) -> Pointer:
    """No edge of a loop leads back."""
    loop = _loop(case)
    (way,) = case.sound.loop(loop)["exits"]
    for edge in case.sound.socket(f"{loop} check")["edges"]:
        edge["to"] = way["targetSocketId"]
    return (*case.sound.loop_at(loop), "sockets")


def pass_by_loop(case: Case) -> Expected:
    """Nothing leads to a loop any more."""
    (way,) = case.sound.loop("rooms")["exits"]
    case.sound.socket("seed rooms")["edges"] = [{"to": way["targetSocketId"]}]
    return Expected((*case.sound.loop_at("rooms"), KEY), frozenset({"unreachable-socket"}))


def leave_from_outside(case: Case) -> Pointer:
    loop = _loop(case)
    exits = case.sound.loop(loop)["exits"]
    exits.append({"from": case.sound.roles["first"], "targetSocketId": case.sound.roles["tell"]})
    return (*case.sound.loop_at(loop), "exits", len(exits) - 1, "from")


def repeat_exit(case: Case) -> Pointer:
    loop = case.sound.random.choice((*LOOPS, "streams"))
    exits = case.sound.loop(loop)["exits"]
    exits.append(dict(exits[0]))
    return (*case.sound.loop_at(loop), "exits", len(exits) - 1)


def contradict_advance(case: Case) -> Expected:
    """The early form of an exit says when the cursor is stepped, and the advance says otherwise."""
    loop = _loop(case)
    spec = case.sound.loop(loop)
    spec["exit"] = {"from": case.sound.roles[f"{loop} check"], "when": "not_satisfied", "to": "end"}
    return Expected((*case.sound.at(f"{loop} check"), "advance", "when"), frozenset({"legacy-form"}))


def step_another(case: Case) -> Pointer:
    loop = _loop(case)
    key, wrong = case.sound.random.choice((("cursor", "otherIndex"), ("items", "state.others")))
    case.sound.socket(f"{loop} check")["advance"][key] = wrong
    return (*case.sound.at(f"{loop} check"), "advance", key)


def feed_from_another(case: Case) -> Pointer:
    """A socket between the generator and its loop becomes a generator."""
    case.sound.materia("between")["generator"] = True
    return (*case.sound.loop_at("work"), "consumes", "from")


def share_socket(case: Case) -> Pointer:
    one, other = case.sound.random.sample(LOOPS, 2)
    shared = case.sound.roles[f"{other} {case.sound.random.choice(('build', 'check'))}"]
    case.sound.loop(one)["sockets"].append(shared)
    last = max(LOOPS)
    return (*case.sound.loop_at(last), "sockets", case.sound.loop(last)["sockets"].index(shared))


def forget_step(case: Case) -> Pointer:
    loop = _loop(case)
    check = case.sound.socket(f"{loop} check")
    del check["advance"]
    (way,) = case.sound.loop(loop)["exits"]
    next(edge for edge in check["edges"] if edge["when"] == "satisfied")["to"] = way["targetSocketId"]
    return (*case.sound.loop_at(loop), KEY)


def leave_by_verdict(case: Case) -> Pointer:
    """The one exit of a loop is for one verdict."""
    loop = _loop(case)
    case.sound.loop(loop)["exits"][0]["condition"] = "satisfied"
    return (*case.sound.loop_at(loop), "exits", KEY)


def forget_step_of_one(case: Case) -> Pointer:
    """A socket with a list of its own stays at its first item."""
    socket = case.sound.socket("each")
    del socket["advance"]
    socket["edges"] = [{"to": socket["foreach"]["done"]}]
    return (*case.sound.at("each"), "foreach", KEY)


def plan_in_text(case: Case) -> Pointer:
    role = case.sound.random.choice(("plan", "split"))
    case.sound.socket(role)["parse"] = "text"
    return (*case.sound.at(role), "parse")


def plan_from_elsewhere(case: Case) -> Pointer:
    role = case.sound.random.choice(("plan", "split"))
    if case.sound.random.random() < 0.5:
        case.sound.socket(role)["assign"] = {"workItems": "$.steps"}
        return (*case.sound.at(role), "assign", "workItems")
    case.sound.materia(role)["assign"] = {"workItems": "$.steps"}
    return (*case.sound.materia_at(role), "assign", "workItems")


def part_without_a_plan(case: Case) -> Pointer:
    """A materia is parallel that is no generator."""
    role = case.sound.random.choice(("first", "aside", "ready", "count"))
    case.sound.materia(role)["parallel"] = True
    return (*case.sound.materia_at(role), "parallel")


def lead_into_streams(case: Case) -> Pointer:
    """An edge from outside leads to a socket that streams run."""
    edges = case.sound.socket("review")["edges"]
    place = next(i for i, edge in enumerate(edges) if edge["when"] == "not_satisfied")
    edges[place]["to"] = case.sound.roles[case.sound.random.choice(("ready", "streams build"))]
    return (*case.sound.at("review"), "edges", place)


def work_alone(case: Case) -> Pointer:
    role = case.sound.random.choice(("ready", "streams build", "streams check"))
    del case.sound.materia(role)["parallelSafe"]
    return (*case.sound.at(role), "materia")


def talk_in_streams(case: Case) -> Pointer:
    role = case.sound.random.choice(("ready", "streams build", "streams check"))
    case.sound.materia(role)["multiTurn"] = True
    return (*case.sound.at(role), "materia")


def read_after_streams(case: Case) -> Pointer:
    """What is written in streams is read after them, as it was before."""
    target = next(iter(case.sound.socket("first")["assign"]))
    role = case.sound.random.choice(("ready", "streams build", "streams check"))
    case.sound.socket(role)["assign"] = {target: "$"}
    return (*case.sound.at(role), "assign", target, KEY)


DAMAGES: Final[dict[str, Damage]] = {
    "acyclic-loop": lead_away,
    "unreachable-loop": pass_by_loop,
    "foreign-exit": leave_from_outside,
    "repeated-exit": repeat_exit,
    "exit-conflict": contradict_advance,
    "foreign-advance": step_another,
    "loop-source": feed_from_another,
    "shared-socket": share_socket,
    "idle-loop": forget_step,
    "empty-list-skips": leave_by_verdict,
    "idle-foreach": forget_step_of_one,
    "generator-parse": plan_in_text,
    "generator-output": plan_from_elsewhere,
    "parallel-generator": part_without_a_plan,
    "parallel-path": lead_into_streams,
    "parallel-unsafe": work_alone,
    "parallel-interactive": talk_in_streams,
    "parallel-write": read_after_streams,
}
