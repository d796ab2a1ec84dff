"""What is shown of a session, and what is read of a prompt, in the blocks of the protocol."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import unquote, urlsplit

from acp.schema import (
    AvailableCommand,
    AvailableCommandInput,
    EmbeddedResourceContentBlock,
    ResourceContentBlock,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionMode,
    SessionModeState,
    TextContentBlock,
    TextResourceContents,
    UnstructuredCommandInput,
    Usage,
)

from materiac.editors.session import Session
from materiac.runtime.usage import Total

LOADOUT: Final = "loadout"
"""The option by which a loadout is chosen."""
_COMMANDS: Final = (
    ("resume", "go on with the last cast: after a stop, a failure, or a limit", "--retry …"),
    ("continue", "end the talk that the cast waits in, and have the final form", None),
)


def commands() -> list[AvailableCommand]:
    """What one can type beside a request."""
    hints = [None if hint is None else UnstructuredCommandInput(hint=hint) for _, _, hint in _COMMANDS]
    return [
        AvailableCommand(name=name, description=words, input=hint and AvailableCommandInput(root=hint))
        for (name, words, _), hint in zip(_COMMANDS, hints, strict=True)
    ]


def modes(session: Session) -> SessionModeState | None:
    """The loadouts as modes, for editors that know no options."""
    if not session.offered or session.loadout is None:
        return None
    modes = [SessionMode(id=one.name, name=one.name, description=one.description) for one in session.offered]
    return SessionModeState(current_mode_id=session.loadout, available_modes=modes)


def options(session: Session) -> list[Any] | None:
    """The loadouts as an option."""
    if not session.offered or session.loadout is None:
        return None
    choices = [
        SessionConfigSelectOption(value=one.name, name=one.name, description=one.description)
        for one in session.offered
    ]
    option = SessionConfigOptionSelect(
        type="select",
        id=LOADOUT,
        name="Loadout",
        category="mode",
        description="the loadout that the next request runs",
        current_value=session.loadout,
        options=choices,
    )
    return [option]


def text_of(prompt: list[Any]) -> str:
    """A prompt as a text: what it only points to is named, what it has in it stands below."""
    said, below = [], []
    for block in prompt:
        if isinstance(block, TextContentBlock):
            said.append(block.text)
        elif isinstance(block, ResourceContentBlock):
            said.append(_place(block.uri))
        elif isinstance(block, EmbeddedResourceContentBlock):
            said.append(_place(block.resource.uri))
            if isinstance(block.resource, TextResourceContents):
                below.append(f"\n\n## {_place(block.resource.uri)}\n\n{block.resource.text}")
    return "".join([*said, *below]).strip()


def _place(uri: str) -> str:
    """A file by its path, anything else by its address."""
    parts = urlsplit(uri)
    return unquote(parts.path) if parts.scheme == "file" else uri


def usage_of(used: Total) -> Usage | None:
    """What the turns of a prompt have used, as far as they said it."""
    if used.turns == used.unknown:
        return None
    return Usage(
        input_tokens=used.input,
        output_tokens=used.output,
        cached_read_tokens=used.cache_read,
        cached_write_tokens=used.cache_write,
        total_tokens=used.input + used.output + used.cache_read + used.cache_write,
    )
