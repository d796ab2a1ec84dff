"""The options in the text that names an agent: `a=1&b=2`."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from materiac.agents.protocol import AgentError
from materiac.names import suggestion


def options(text: str, known: Collection[str], who: str) -> Iterator[tuple[str, str]]:
    """Each option with its value as it is written. Raises `AgentError` for an unknown or a repeated one."""
    seen: set[str] = set()
    for name, _, value in (option.partition("=") for option in filter(None, text.split("&"))):
        if name not in known:
            guess = suggestion(name, known) or f"expected one of {', '.join(known)}"
            raise AgentError(f"{who} has no option '{name}': {guess}")
        if name in seen:
            raise AgentError(f"the option '{name}' is there twice")
        seen.add(name)
        yield name, value
