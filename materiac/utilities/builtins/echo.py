"""`echo`: for loadouts that are tried out, and for values that a cast needs from the start."""

from __future__ import annotations

from typing import Any

from materiac.utilities.builtins.call import params


def run(call: dict[str, Any]) -> Any:
    """`params.output`, whatever it is; else the params."""
    given = params(call)
    return given.get("output", given)
