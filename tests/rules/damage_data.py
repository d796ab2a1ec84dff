"""Damage to what sockets hand on: prompts, assignments, utilities, suppressions."""

from __future__ import annotations

from typing import Final

from damage import KEY, Case, Damage, Expected

from materiac.source import Pointer

JUDGES: Final = ("review", "work check", "rooms check", "streams check")


def _say(case: Case, role: str, words: str) -> Pointer:
    """A prompt says something more, before or after."""
    materia = case.sound.materia(role)
    told = [materia["prompt"], words]
    materia["prompt"] = "\n\n".join(case.sound.random.sample(told, 2))
    return (*case.sound.materia_at(role), "prompt")


def ask_as_of_old(case: Case) -> Pointer:
    words = (
        "Mend this: {{feedback}}",
        "Write into `feedback` what is wrong.",
        'Answer with {"passed": true}.',
        "Return the list in `$.tasks`.",
    )
    return _say(case, case.sound.random.choice(JUDGES), case.sound.random.choice(words))


def ask_for_a_text(case: Case) -> Pointer:
    words = ("The report is the `text` of your answer.", "Return JSON with a top-level `text` field.")
    return _say(case, case.sound.random.choice(JUDGES), case.sound.random.choice(words))


def ask_for_a_verdict(case: Case) -> Pointer:
    words = ("Set `satisfied` to true if all is well.", 'End with {"satisfied": false} if it is not done.')
    role = case.sound.random.choice(("aside", "between", "work build", "tell"))
    return _say(case, role, case.sound.random.choice(words))


def assign_reserved(case: Case) -> Pointer:
    target = case.sound.random.choice(("item.x", "satisfied", "state", "parallelFanIn.a"))
    case.sound.socket("aside")["assign"] = {target: "$"}
    return (*case.sound.at("aside"), "assign", target, KEY)


def assign_from_nowhere(case: Case) -> Pointer:
    source = case.sound.random.choice(("$.", "state.a..b", "$.a.length", ""))
    case.sound.socket("aside")["assign"] = {"notes": source}
    return (*case.sound.at("aside"), "assign", "notes")


def read_nothing(case: Case) -> Pointer:
    role = case.sound.random.choice(("aside", "tell", "work build", "review"))
    _say(case, role, case.sound.random.choice(("{{state.notez}}", "{{ state.other.x }}")))
    return (*case.sound.at(role), "materia")


def read_too_early(case: Case) -> Pointer:
    """What a loop writes is read behind it: the list may have been empty."""
    role = case.sound.random.choice(("work build", "rooms build"))
    case.sound.socket(role)["assign"] = {"last": "$"}
    _say(case, "tell", "{{state.last}}")
    return (*case.sound.at("tell"), "materia")


def assign_for_nobody(case: Case) -> Pointer:
    case.sound.socket("tell")["assign"] = {"last": "$"}
    return (*case.sound.at("tell"), "assign", "last", KEY)


def promise_too_much(case: Case) -> Pointer:
    """A property that some cast breaks."""
    names = case.sound.roles
    wrong = case.sound.random.choice(
        (
            {"never": names["review"], "before": names["tell"]},
            {"every path": [names["first"], names["tell"]], "passes": names["work build"]},
            {"at most": 3, "of": names["rooms build"], "between": [names["first"], names["tell"]]},
            {"after every": names["first"], "comes": names["each"]},
        )
    )
    properties = case.sound.spec.setdefault("properties", [])
    properties.append(wrong)
    return ("loadouts", case.sound.loadout, "properties", len(properties) - 1)


def spare(case: Case) -> Pointer:
    """A turn costs more than there is."""
    role = case.sound.random.choice(("work build", "streams build", "first"))
    case.sound.materia(role)["cost"] = {"usd": case.sound.random.randint(2, 9)}
    case.config.setdefault("budget", {})["maxCostUsd"] = 1
    return ("loadouts", case.sound.loadout, KEY)


def run_two(case: Case) -> Expected:
    """A utility has two programs; the other one reads nothing."""
    case.sound.materia("count")["utility"] = "noop"
    return Expected((*case.sound.materia_at("count"), "utility", KEY), frozenset({"unused-assign"}))


def write_secret(case: Case) -> Pointer:
    command = case.sound.materia("count")["command"]
    secret = case.sound.random.choice(("ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "--token=w5Kd9RvB3nJf"))
    command.append(secret)
    return (*case.sound.materia_at("count"), "command", len(command) - 1)


def forget_timeout(case: Case) -> Pointer:
    del case.sound.materia("count")["timeoutMs"]
    return (*case.sound.materia_at("count"), "command", KEY)


def ignore_without_reason(case: Case) -> Pointer:
    case.sound.socket("aside")["x-materiac"] = {"ignore": [{"rule": "stall-guard"}]}
    return (*case.sound.at("aside"), "x-materiac", "ignore", 0)


def ignore_nothing(case: Case) -> Pointer:
    case.sound.socket("aside")["x-materiac"] = {"ignore": [{"rule": "stall-guard", "reason": "it is meant"}]}
    return (*case.sound.at("aside"), "x-materiac", "ignore", 0)


DAMAGES: Final[dict[str, Damage]] = {
    "obsolete-field": ask_as_of_old,
    "unasked-text": ask_for_a_text,
    "verdict-in-prompt": ask_for_a_verdict,
    "reserved-key": assign_reserved,
    "invalid-path": assign_from_nowhere,
    "undefined-state": read_nothing,
    "maybe-unassigned": read_too_early,
    "unused-assign": assign_for_nobody,
    "broken-property": promise_too_much,
    "small-budget": spare,
    "utility-source": run_two,
    "secret-literal": write_secret,
    "missing-timeout": forget_timeout,
    "invalid-suppression": ignore_without_reason,
    "unused-suppression": ignore_nothing,
}
