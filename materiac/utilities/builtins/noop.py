"""`noop`: a socket that only routes."""

from __future__ import annotations

from typing import Any


def run(call: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001 - all built-ins are called alike
    """An empty object."""
    return {}
