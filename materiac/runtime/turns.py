"""The turns of an agent in one visit: asked now, or answered as the journal tells."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from materiac.agents.protocol import AgentError, AnswerLimitError, Progress, Reply, Request
from materiac.environment import Mask
from materiac.runtime.bench import Bench
from materiac.runtime.chronicle import TURN
from materiac.runtime.handover import Handover
from materiac.runtime.journal import Record
from materiac.runtime.limits import check_answer, check_prompt
from materiac.runtime.recovery import Again, Patience
from materiac.runtime.usage import Turn
from materiac.runtime.visit import Json, Visit, VisitFailed, VisitWaits

RETRIED: Final = "turn_retried"
_FAILURES: Final = ("error", "aborted")


class Turns:
    """Asks the agent of a visit. `files` are those of the turns so far, `answers` what it answered;
    `handover` is how the last one handed over its object."""

    def __init__(self, bench: Bench, visit: Visit) -> None:
        self.bench, self.visit = bench, visit
        self.files: list[Json] = []
        self.answers: list[str] = []
        self.session: str | None = None
        self.handover = Handover()
        self._count = 0

    def turn(self, text: str, whole: str, handover: Handover, *, number: int = 1, repair: int = 0) -> str:
        """One turn, tried again where that may help. Gives the answer.

        `whole` is the text for an agent that knows nothing of the turns before. Raises `VisitFailed`,
        and `VisitWaits` where the budget is spent and waits for more.
        """
        patience = Patience(self.bench.recovery)
        while True:
            self._count += 1
            self.handover = handover
            told = self._take(number)
            if told is not None:
                reply = self._told(told, text)
            else:
                self._refuse_spent(number)
                reply = self._asked(text, number, repair, patience.tries)
            if reply.stop not in _FAILURES:
                return self._taken(reply)
            # A back end may go on where it was: what its tools have done is not done again.
            self.session = reply.session or self.session
            again = self._again(reply, patience)
            if again.fresh:
                self.session, text = None, whole
            text = f"{text}\n{again.hint}\n" if again.hint else text

    def _take(self, number: int) -> Record | None:
        """The record of a turn. One of a talk that failed, and was tried again, does not end the talk."""
        journal = self.bench.journal
        while number > 1 and journal.tried_again():
            pass
        return journal.take(TURN, pauses=number > 1)

    def _taken(self, reply: Reply) -> str:
        self.session = reply.session or self.session
        check_answer(self.bench.limits, reply.text)
        _refuse_oversized(self.visit.socket.max_output_bytes, reply.text)
        self.answers.append(reply.text)
        return reply.text

    def _again(self, reply: Reply, patience: Patience) -> Again:
        """How to try once more; what was tried before is tried again as it was."""
        again = patience.again(reply, in_session=self.session is not None)
        if self.bench.journal.told is not None:
            return again or Again()
        if again is None:
            why = reply.error or ("the agent was stopped" if reply.stop == "aborted" else "it gave no reason")
            raise VisitFailed("agent", patience.told(why))
        self.bench.journal.append(
            RETRIED,
            sync=False,
            **self.visit.place(),
            turn=self._count,
            fault=reply.fault,
            error=reply.error,
            pauseS=again.pause_s,
        )
        self._rest(again.pause_s)
        return again

    def _rest(self, seconds: float) -> None:
        stop = self.bench.stop
        if stop is None:
            time.sleep(seconds)
        else:
            stop.wait(seconds)

    def _told(self, told: Record, text: str) -> Reply:
        """What came of a turn before."""
        fields, folder = told.fields, self.bench.folder
        reply = Reply("", session=fields["session"], stop=fields["stop"], fault=fields.get("fault"))
        reply = replace(reply, error=fields["error"])
        for file in fields["files"]:
            if file["kind"] == "context" and self.bench.journal.strict:
                folder.hold(file, text)
            if file["kind"] == "output":
                reply = replace(reply, text=folder.content(file).decode())
        self.files += fields["files"]
        self.handover = self.handover.told(fields.get("handoff"))
        return reply

    def _asked(self, text: str, number: int, repair: int, retry: int) -> Reply:
        """The prompt is saved, then asked, and the answer is saved before it is looked at."""
        bench, visit = self.bench, self.visit
        check_prompt(bench.limits, text)
        written = bench.folder.context(*visit.id, text, turn=number, repair=repair, retry=retry)
        files = [written.as_data()]
        began = time.monotonic()
        try:
            reply = self._reply(text)
        except AgentError as error:
            kind = "output-limit" if isinstance(error, AnswerLimitError) else "agent"
            failure = VisitFailed(kind, bench.mask.text(str(error)))
            failure.files = files
            raise failure from error
        if reply.stop not in _FAILURES:
            self.handover, reply = self.handover.taken(reply, self._tool_folder())
        reply = _masked(bench.mask, reply)
        if reply.stop not in _FAILURES:
            saved = bench.folder.output(*visit.id, reply.text, ".md", turn=number, repair=repair, retry=retry)
            files.append(saved.as_data())
        self._record(reply, files, time.monotonic() - began)
        self.files += files
        return reply

    def _refuse_spent(self, number: int) -> None:
        """A talk is held to the budget before each further turn."""
        reached = self.bench.over_budget() if number > 1 else None
        if reached is None:
            return
        if self.bench.budget.stop_at_limit:
            raise VisitFailed("budget", reached)
        raise VisitWaits(f"{reached}: the cast waits for a higher limit", "budget")

    def _reply(self, text: str) -> Reply:
        bench, visit, agent = self.bench, self.visit, self.visit.materia.agent
        of_socket, of_item = bench.tally.asked(visit.socket.id, visit.item.key if visit.item else None)
        return bench.agent.turn(
            Request(
                prompt=text,
                socket=visit.socket.id,
                materia=visit.materia.name,
                visit=visit.number,
                turn=self._count,
                cwd=bench.cwd,
                item_key=visit.item.key if visit.item else None,
                scope=agent.scope if agent else "none",
                tools=agent.tools if agent else (),
                model=agent.model if agent else None,
                thinking=agent.thinking if agent else None,
                session=self.session,
                asked_of_socket=of_socket,
                asked_of_item=of_item,
                env=agent.env if agent else (),
                max_bytes=bench.limits.max_answer_bytes,
                lane=bench.stream or "",
                sessions=bench.folder.root / "sessions",
                owner=bench.cast_id,
                stop=bench.stop,
                schema=self.handover.schema,
                handoff=self.handover.kind,
                tool_server=self.handover.server(self._tool_folder()),
                progress=self._heard,
                tokens_left=self._tokens_left(),
            )
        )

    def _tokens_left(self) -> int | None:
        limit = self.bench.budget.max_tokens
        return None if limit is None else max(limit - self.bench.tally.total.tokens, 0)

    def _heard(self, part: Progress) -> None:
        """Hand on what the agent does, without the secrets; nobody who hears it can break the turn."""
        bench = self.bench
        if bench.hears is not None:
            with contextlib.suppress(Exception):
                bench.hears(bench.stream, replace(part, text=bench.mask.text(part.text)))

    def _tool_folder(self) -> Path:
        """Where the calls of the tool of this turn are written."""
        root, names = self.bench.folder.root, self.bench.folder.folders
        stream = "".join(f".{part}" for part in self.bench.folder.below)
        return root / "handoff" / f"{names[self.visit.socket.id]}{stream}.{self.visit.number}.{self._count}"

    def _record(self, reply: Reply, files: list[Json], seconds: float) -> None:
        visit, mask = self.visit, self.bench.mask
        turn = Turn(
            socket=visit.socket.id,
            materia=visit.materia.name,
            item_key=visit.item.key if visit.item else None,
            item_label=visit.item.label if visit.item else None,
            visit=visit.number,
            turn=self._count,
            usage=reply.usage,
            model=reply.model,
            provider=reply.provider,
        )
        self.bench.journal.append(
            TURN,
            sync=False,
            **turn.as_data(),
            session=None if reply.session is None else mask.text(reply.session),
            stop=reply.stop,
            error=reply.error,
            fault=reply.fault,
            handoff=self.handover.as_data(),
            seconds=round(seconds, 6),
            files=files,
        )


def _masked(mask: Mask, reply: Reply) -> Reply:
    """A reply without secrets in what is kept of it; the session has to come back as it is."""

    def hidden(text: str | None) -> str | None:
        return None if text is None else mask.text(text)

    return replace(
        reply,
        text=mask.text(reply.text),
        error=hidden(reply.error),
        model=hidden(reply.model),
        provider=hidden(reply.provider),
    )


def _refuse_oversized(limit: int | None, answer: str) -> None:
    size = len(answer.encode("utf-8", "surrogatepass"))
    if limit is not None and size > limit:
        raise VisitFailed("output-limit", f"the answer has {size} bytes, {limit} are allowed")
