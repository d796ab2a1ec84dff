"""Nobody: for loadouts that ask no agent."""

from __future__ import annotations

from materiac.agents.protocol import AgentError, Reply, Request


class Nobody:
    """Refuses every turn."""

    spec = "nobody"

    def turn(self, request: Request) -> Reply:
        """Raises `AgentError`."""
        raise AgentError(f"'{request.socket}' asks an agent, and none was chosen")

    def close(self) -> None:
        """Nothing was started."""
