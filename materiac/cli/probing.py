"""One turn of a back end, to see whether it answers: what it says, how long that takes, what it uses."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from materiac.agents import choose
from materiac.agents.protocol import AgentError, Reply, Request, Usage
from materiac.cli.wording import clipped, cost, count, duration, one_line
from materiac.environment import Mask, secrets

_PROMPT: Final = "This is a check of the connection. Answer with the one word: ready\n"
_TIMEOUT_S: Final = 120.0
_SHOWN: Final = 200
_LABEL: Final = 14


@dataclass(frozen=True)
class Probed:
    """What came of asking. `made` is false where the back end could not even be made."""

    spec: str
    seconds: float = 0.0
    reply: Reply | None = None
    error: str | None = None
    made: bool = True

    @property
    def answered(self) -> bool:
        return self.error is None

    def as_data(self) -> dict[str, Any]:
        """The probe in `--json`."""
        reply = self.reply or Reply("")
        return {
            "agent": self.spec,
            "answered": self.answered,
            "seconds": round(self.seconds, 3),
            "text": reply.text,
            "model": reply.model,
            "provider": reply.provider,
            "usage": _as_data(reply.usage) if reply.usage else None,
            "fault": reply.fault,
            "error": self.error,
        }

    def lines(self) -> Iterator[str]:
        """The probe for a person."""
        yield f"{'agent':<{_LABEL}}{one_line(self.spec)}"
        if self.error is not None:
            yield f"{'failed':<{_LABEL}}{one_line(self.error)}"
        else:
            said = clipped(self.reply.text if self.reply else "", _SHOWN)
            yield f"{'answered':<{_LABEL}}{said or 'nothing'}"
        if self.reply is not None:
            model = [one_line(part) for part in (self.reply.provider, self.reply.model) if part]
            yield f"{'model':<{_LABEL}}{', '.join(model) or 'unknown'}"
            yield f"{'usage':<{_LABEL}}{_used(self.reply)}"
        yield f"{'took':<{_LABEL}}{duration(self.seconds)}"


def probe(spec: str) -> Probed:
    """Make a back end and ask it for one word, in an empty folder and without tools."""
    mask = Mask(secrets(os.environ))
    shown = mask.text(spec)
    try:
        agent = choose.make(spec)
    except AgentError as error:
        return Probed(shown, error=mask.text(str(error)), made=False)
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory(prefix="materiac-probe-") as folder:
            reply = agent.turn(_request(Path(folder)))
    except AgentError as error:
        return Probed(shown, time.monotonic() - began, error=mask.text(str(error)))
    finally:
        agent.close()
    seconds = time.monotonic() - began
    reply = dataclasses.replace(reply, text=mask.text(reply.text))
    failed = reply.stop in ("error", "aborted")
    why = mask.text(reply.error or "it gave no reason") if failed else None
    return Probed(shown, seconds, reply, why)


def _request(folder: Path) -> Request:
    work, sessions = folder / "work", folder / "sessions"
    for part in (work, sessions):
        part.mkdir()
    return Request(
        prompt=_PROMPT,
        socket="probe",
        materia="Probe",
        visit=1,
        turn=1,
        cwd=work,
        timeout_s=_TIMEOUT_S,
        sessions=sessions,
        owner=f"probe-{os.getpid()}",
    )


def _as_data(usage: Usage) -> dict[str, Any]:
    return {
        "input": usage.input,
        "output": usage.output,
        "cacheRead": usage.cache_read,
        "cacheWrite": usage.cache_write,
        "cost": usage.cost,
    }


def _used(reply: Reply) -> str:
    if reply.usage is None:
        return "it does not say"
    used = reply.usage
    tokens = count(used.input + used.output, "token")
    return f"{tokens} ({used.input:,} in, {used.output:,} out), {cost(used.cost)}"
