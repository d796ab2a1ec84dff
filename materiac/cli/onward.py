"""Which commands go on with a cast, as they would be typed."""

from __future__ import annotations

import argparse
import os
import shlex
from typing import Any

from materiac.cli import places
from materiac.runtime.contents import Definition
from materiac.runtime.summary import INTERRUPTED, RUNNING, Summary

Json = dict[str, Any]


def onward(cast: Summary, definition: Definition, name: str) -> list[str]:
    """What can be done next with a cast that is called `name`; nothing where it is over, or no cast."""
    if cast.state == RUNNING:
        return [f"materiac tail {name} -f", f"materiac abort {name}"]
    if cast.state in (INTERRUPTED, "stopped"):
        return [f"materiac resume {name}"]
    if cast.state not in ("failed", "waiting"):
        return []
    raised = _over_budget(cast, definition)
    if raised:
        return [f"materiac resume {name} {' '.join(raised)}"]
    return _after_failure(cast, name) if cast.state == "failed" else _after_wait(cast, definition, name)


def name_of(cast: Summary, options: argparse.Namespace) -> str:
    """What to call a cast in a command: its id, or its folder where it lies elsewhere than casts do here."""
    named = options.artifacts or (options.cast and os.sep in options.cast)
    if named and cast.folder.parent != places.artifact_folder(argparse.Namespace(artifacts=None)):
        return shlex.quote(str(cast.folder))
    return shlex.quote(cast.id)


def _after_failure(cast: Summary, name: str) -> list[str]:
    kind = (cast.failure or {}).get("kind")
    return [f"materiac resume {name} --{'allow-edge' if kind == 'edge-limit' else 'retry'}"]


def _after_wait(cast: Summary, definition: Definition, name: str) -> list[str]:
    materia = definition.materia.get(str((cast.at or {}).get("materia")), {})
    if (materia.get("agent") or {}).get("multi_turn"):
        return [f'materiac say {name} "…"', f"materiac continue {name}"]
    if materia.get("utility"):
        return [f"materiac resume {name} --rerun"]
    return [f"materiac resume {name}"]


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
