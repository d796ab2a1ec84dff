"""Damage to names and to routes."""

from __future__ import annotations

from typing import Final

from damage import KEY, Case, Damage, Expected

from materiac.source import Pointer


def forget_entry(case: Case) -> Pointer:
    """The entry is left out; the socket is the first as written."""
    spec = case.sound.spec
    entry = spec.pop("entry")
    spec["sockets"] = {entry: spec["sockets"].pop(entry), **spec["sockets"]}
    return ("loadouts", case.sound.loadout, "sockets", KEY)


def misspell_target(case: Case) -> Pointer:
    role = case.sound.random.choice(
        [role for role in case.sound.roles if case.sound.socket(role).get("edges")]
    )
    edge = case.sound.socket(role)["edges"][0]
    edge["to"] = edge["to"][:-1] + "x"
    return (*case.sound.at(role), "edges", 0, "to")


def misspell_materia(case: Case) -> Pointer:
    role = case.sound.random.choice(("aside", "between", "custom"))
    case.sound.socket(role)["materia"] += "x"
    return (*case.sound.at(role), "materia")


def misspell_loadout(case: Case) -> Pointer:
    case.config["activeLoadout"] += "x"
    return ("activeLoadout",)


def misspell_utility(case: Case) -> Expected:
    """What it writes is not known any more."""
    role = case.sound.random.choice(("seed files", "seed rooms"))
    case.sound.materia(role)["utility"] = case.sound.random.choice(("ecko", "vcs.detekt"))
    return Expected((*case.sound.materia_at(role), "utility"), frozenset({"undefined-state"}))


def misspell_tool(case: Case) -> Pointer:
    tools = case.sound.materia("custom")["tools"]["tools"]
    place = case.sound.random.randint(0, len(tools))
    tools.insert(place, "raed")
    return (*case.sound.materia_at("custom"), "tools", "tools", place)


def misspell_agent(case: Case) -> Pointer:
    case.config["agents"]["default"] = case.sound.random.choice(("aks", "claud", "scriptid:file"))
    return ("agents", "default")


def give_to_any_program(case: Case) -> Pointer:
    """A materia with tools goes to a program that is not held to them."""
    name = case.sound.socket("custom")["materia"]
    case.config["agents"]["materia"] = {name: "command:cat"}
    return ("agents", "materia", name)


def write_in_capitals(case: Case) -> Pointer:
    """A second materia has the name of one, in capitals."""
    name = case.sound.socket(case.sound.random.choice(list(case.sound.roles)))["materia"]
    case.config["materia"][name.upper()] = {"prompt": "Look."}
    return ("materia", max(name, name.upper()), KEY)


def add_dead_edge(case: Case) -> Pointer:
    role = case.sound.random.choice(("first", "aside", "between", "custom"))
    edges = case.sound.socket(role)["edges"]
    edges.append({"to": case.sound.roles["tell"]})
    return (*case.sound.at(role), "edges", len(edges) - 1)


def repeat_guard(case: Case) -> Pointer:
    edges = case.sound.socket("review")["edges"]
    edge = case.sound.random.choice(edges)
    edges.append(dict(edge))
    return (*case.sound.at("review"), "edges", len(edges) - 1)


def read_as_text(case: Case) -> Pointer:
    """What asks for a verdict reads text."""
    role = case.sound.random.choice(("review", "work check", "rooms check", "streams check"))
    case.sound.socket(role)["parse"] = "text"
    return (*case.sound.at(role), "edges", 0, "when")


def forget_route(case: Case) -> Pointer:
    """A verdict loses its edge."""
    role = case.sound.random.choice(("review", "work check", "rooms check"))
    socket = case.sound.socket(role)
    socket["edges"] = [edge for edge in socket["edges"] if edge["when"] == "satisfied"]
    return (*case.sound.at(role), "edges", KEY)


def pass_by(case: Case) -> Pointer:
    """No edge leads to a socket any more."""
    role = case.sound.random.choice(("aside", "between", "custom"))
    socket, name = case.sound.socket(role), case.sound.roles[role]
    (after,) = socket["edges"]
    for other in case.sound.spec["sockets"].values():
        for edge in other.get("edges", ()):
            edge["to"] = after["to"] if edge["to"] == name else edge["to"]
        if other.get("foreach", {}).get("done") == name:
            other["foreach"]["done"] = after["to"]
    for loop in case.sound.spec["loops"].values():
        for way in loop["exits"]:
            way["targetSocketId"] = after["to"] if way["targetSocketId"] == name else way["targetSocketId"]
    return (*case.sound.at(role), KEY)


def never_end(case: Case) -> Pointer:
    """The last socket leads to itself."""
    case.sound.socket("tell")["edges"] = [{"to": case.sound.roles["tell"]}]
    return (*case.sound.at("tell"), KEY)


def forget_budget(case: Case) -> Pointer:
    return _without_budget(case, "review")


def forget_budget_of_items(case: Case) -> Pointer:
    return _without_budget(case, case.sound.random.choice(("work check", "rooms check", "streams check")))


def _without_budget(case: Case, role: str) -> Pointer:
    edges = case.sound.socket(role)["edges"]
    place = next(i for i, edge in enumerate(edges) if "maxTraversals" in edge)
    del edges[place]["maxTraversals"]
    return (*case.sound.at(role), "edges", place)


DAMAGES: Final[dict[str, Damage]] = {
    "missing-entry": forget_entry,
    "unknown-target": misspell_target,
    "unknown-materia": misspell_materia,
    "unknown-loadout": misspell_loadout,
    "unknown-utility": misspell_utility,
    "unknown-tool": misspell_tool,
    "unknown-agent": misspell_agent,
    "unkept-scope": give_to_any_program,
    "case-clash": write_in_capitals,
    "dead-edge": add_dead_edge,
    "repeated-guard": repeat_guard,
    "unread-verdict": read_as_text,
    "missing-route": forget_route,
    "unreachable-socket": pass_by,
    "never-ends": never_end,
    "unbounded-loop": forget_budget,
    "stall-guard": forget_budget_of_items,
}
