"""Which commands go on with a cast, as they would be typed."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any, Final

from materiac.cli import places
from materiac.runtime.contents import Definition
from materiac.runtime.summary import INTERRUPTED, RUNNING, Summary

Json = dict[str, Any]

_HELP: Final = {
    "edge-limit": "--allow-edge",
    "visit-limit": "--accept-change --retry",
    "property": "--accept-change --retry",
    "uncertain": "--rerun",
}
"""Which option lifts what a cast rests by."""


def onward(cast: Summary, definition: Definition, name: str) -> list[str]:
    """What can be done next with a cast that is called `name`; nothing where it is over, or no cast."""
    go_on = f"materiac resume {name}"
    if cast.state == RUNNING:
        return [f"materiac tail {name} -f", f"materiac abort {name}"]
    if cast.state in (INTERRUPTED, "stopped"):
        return [go_on]
    if cast.state == "failed":
        return [go_on + _help(str((cast.failure or {}).get("kind")), "--retry", cast, definition)]
    if cast.state != "waiting":
        return []
    if cast.waiting_for == "person":
        return [f'materiac say {name} "…"', f"materiac continue {name}"]
    return [go_on + _help(cast.waiting_for or "", "", cast, definition)]


def name_of(cast: Summary, options: argparse.Namespace) -> str:
    """What to call a cast in a command: its id, or its folder where it lies elsewhere than casts do here."""
    named = options.artifacts or (options.cast and os.sep in options.cast)
    if named and cast.folder.parent != places.artifact_folder(argparse.Namespace(artifacts=None)):
        return shlex.quote(str(cast.folder))
    return shlex.quote(cast.id)


def _help(reason: str, else_: str, cast: Summary, definition: Definition) -> str:
    """The options that take away what keeps a cast from going on, with a space before them."""
    if reason == "budget":
        options = " ".join(_over_budget(cast, definition)) or "--budget-tokens N"
    else:
        options = _HELP.get(reason, else_)
    return f" {options}" if options else ""


def _over_budget(cast: Summary, definition: Definition) -> list[str]:
    """The options that raise the limits that have been reached."""
    shares = (
        ("--budget-tokens", "max_tokens", "maxTokens", cast.usage.tokens),
        ("--budget-usd", "max_cost_usd", "maxCostUsd", float(cast.usage.cost)),
    )
    limits = [
        (option, cast.limits.get(raised) or definition.budget.get(own), spent)
        for option, own, raised, spent in shares
    ]
    return [f"{option} N" for option, limit, spent in limits if limit is not None and spent >= limit]
