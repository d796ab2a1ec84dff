"""A visit of an agent: the prompt, the turns, the talk with a person, the one repair."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from materiac.agents.protocol import AgentError, AnswerLimitError, Reply, Request
from materiac.environment import Mask
from materiac.runtime import contract, prompt
from materiac.runtime.bench import Bench
from materiac.runtime.chronicle import TURN, WORDS
from materiac.runtime.contract import Accepted, Contract
from materiac.runtime.handoff import HandoffError, find_object
from materiac.runtime.journal import Record
from materiac.runtime.limits import check_answer, check_prompt
from materiac.runtime.prompt import PromptView
from materiac.runtime.usage import Turn
from materiac.runtime.visit import Json, Output, Visit, VisitFailed, VisitWaits, characters

MAX_WAITING: Final = 200
"""How many characters of an answer a message shows that says that it waits for a person."""
_FAILURES: Final = ("error", "aborted")


def ask(bench: Bench, visit: Visit, view: PromptView) -> Output:
    """Ask the agent of a socket. Raises `VisitFailed`, and `VisitWaits` where a person has to speak."""
    conversation = _Conversation(bench, visit, bench.mask.text(prompt.build(view)))
    answer = conversation.turn(conversation.opening)
    if visit.materia.agent is not None and visit.materia.agent.multi_turn:
        answer = conversation.talk(answer)
    if visit.socket.parse == "text":
        return Output(answer, files=conversation.files)
    return _object(conversation, answer)


def _object(conversation: _Conversation, answer: str) -> Output:
    """The object in an answer; a bad one is asked for once more."""
    wanted = contract.contract_of(conversation.bench.program, conversation.visit.socket)
    mask = conversation.bench.mask
    accepted, problems = read(answer, wanted, mask)
    if accepted is None:
        opening = conversation.opening_of_repair()
        answer = conversation.turn(prompt.repair(opening, problems, answer, wanted), repair=1)
        accepted, problems = read(answer, wanted, mask)
    if accepted is None:
        raise VisitFailed("output", f"the answer was refused after one repair turn: {'; '.join(problems)}")
    return Output(
        answer, accepted, [*conversation.files, save(conversation.bench, conversation.visit, accepted)]
    )


def save(bench: Bench, visit: Visit, accepted: Accepted) -> Json:
    """Write the accepted object, and give the file as journal records list it."""
    text = json.dumps(accepted.output, ensure_ascii=False, indent=2) + "\n"
    return bench.files.output(*visit.id, text, ".json").as_data()


def read(answer: str, wanted: Contract, mask: Mask) -> tuple[Accepted | None, Sequence[str]]:
    """Find the object in an answer and hold it against the contract: it, or what is wrong.

    It is masked again: JSON has many ways to write one text.
    """
    try:
        found = find_object(answer)
    except HandoffError as error:
        return None, [str(error)]
    return contract.check(mask.data(found), wanted)


class _Conversation:
    """The turns of one visit."""

    def __init__(self, bench: Bench, visit: Visit, opening: str) -> None:
        self.bench, self.visit, self.opening = bench, visit, opening
        self.files: list[Json] = []
        self._session: str | None = None
        self._last_prompt = opening
        self._answers: list[str] = []
        self._words: list[str] = []
        self._turns = 0

    def turn(self, text: str, *, number: int = 1, repair: int = 0) -> str:
        """One turn: asked now, or answered as the journal tells. Gives the answer."""
        self._turns += 1
        told = self.bench.journal.take(TURN, pauses=number > 1)
        if told is not None:
            answer = self._told(told, text)
        else:
            self._refuse_spent(number)
            answer = self._asked(text, number, repair)
        check_answer(self.bench.limits, answer)
        _refuse_oversized(self.visit.socket.max_output_bytes, answer)
        self._last_prompt = text
        self._answers.append(answer)
        return answer

    def _told(self, told: Record, text: str) -> str:
        """The answer that a turn has had before."""
        fields, folder = told.fields, self.bench.folder
        reply = Reply("", session=fields["session"], stop=fields["stop"], error=fields["error"])
        for file in fields["files"]:
            if file["kind"] == "context" and self.bench.journal.strict:
                folder.hold(file, text)
            if file["kind"] == "output":
                reply = replace(reply, text=folder.content(file).decode())
        _refuse_failure(self.bench, reply)
        self._session = reply.session or self._session
        self.files += fields["files"]
        return reply.text

    def _asked(self, text: str, number: int, repair: int) -> str:
        """The prompt is saved, then asked, and the answer is saved before it is looked at."""
        bench, visit = self.bench, self.visit
        check_prompt(bench.limits, text)
        written = bench.folder.context(*visit.id, text, turn=number, repair=repair).as_data()
        began = time.monotonic()
        try:
            reply = self._reply(text)
        except AgentError as error:
            kind = "output-limit" if isinstance(error, AnswerLimitError) else "agent"
            failure = VisitFailed(kind, bench.mask.text(str(error)))
            failure.files = [written]
            raise failure from error
        reply = _masked(bench.mask, reply)
        files = [written]
        if reply.stop not in _FAILURES:
            files.append(
                bench.folder.output(*visit.id, reply.text, ".md", turn=number, repair=repair).as_data()
            )
        self._record(reply, files, time.monotonic() - began)
        _refuse_failure(bench, reply)
        self._session = reply.session or self._session
        self.files += files
        return reply.text

    def talk(self, answer: str) -> str:
        """Let a person refine the answers, turn by turn, until the final form is asked for."""
        number = 1
        while True:
            number += 1
            words = self._words_to(answer, number)
            if words is None:
                final = prompt.final_form(self._wanted())
                return self.turn(self._onward(final), number=number)
            answer = self.turn(self._onward(words), number=number)

    def _words_to(self, answer: str, number: int) -> str | None:
        """What the person says to an answer, now or as the journal tells; None for the final form."""
        bench, visit = self.bench, self.visit
        told = bench.journal.take(WORDS, pauses=True)
        if told is not None:
            self.files += told.fields["files"]
            return next((bench.folder.content(file).decode() for file in told.fields["files"]), None)
        said = self._said_to(answer)
        words = None if said is None else bench.mask.text(characters(said))
        files = []
        if words is not None:
            files = [bench.folder.output(*visit.id, words, ".said.md", turn=number).as_data()]
        file = files[0]["file"] if files else None
        bench.journal.append(WORDS, **visit.place(), turn=number, file=file, files=files)
        self.files += files
        return words

    def _said_to(self, answer: str) -> str | None:
        with contextlib.suppress(VisitWaits):
            if self.bench.person is not None:
                return self.bench.person.say(answer)
        shown = " ".join(answer.split())[:MAX_WAITING]
        raise VisitWaits(f"'{self.visit.socket.id}' waits for a person: {shown}", answer=answer)

    def _refuse_spent(self, number: int) -> None:
        """A talk is held to the budget before each further turn."""
        reached = self.bench.over_budget() if number > 1 else None
        if reached is None:
            return
        if self.bench.budget.stop_at_limit:
            raise VisitFailed("budget", reached)
        raise VisitWaits(f"{reached}: the cast waits for a higher limit", "budget")

    def opening_of_repair(self) -> str:
        """The prompt that a repair turn repeats."""
        return self._last_prompt

    def _wanted(self) -> Contract | None:
        if self.visit.socket.parse == "text":
            return None
        return contract.contract_of(self.bench.program, self.visit.socket)

    def _onward(self, words: str) -> str:
        """The next thing said; a back end that keeps no session is told the talk so far."""
        if self._session is not None:
            return words
        told = [self.opening]
        self._words.append(words)
        for answer, said in zip(self._answers, self._words, strict=True):
            told += [f"## You answered\n\n{answer.strip()}", f"## The person says\n\n{said.strip()}"]
        return "\n\n".join(told) + "\n"

    def _reply(self, text: str) -> Reply:
        visit, agent = self.visit, self.visit.materia.agent
        of_socket, of_item = self.bench.tally.asked(visit.socket.id, visit.item.key if visit.item else None)
        return self.bench.agent.turn(
            Request(
                prompt=text,
                socket=visit.socket.id,
                materia=visit.materia.name,
                visit=visit.number,
                turn=self._turns,
                cwd=self.bench.cwd,
                item_key=visit.item.key if visit.item else None,
                scope=agent.scope if agent else "none",
                tools=agent.tools if agent else (),
                model=agent.model if agent else None,
                thinking=agent.thinking if agent else None,
                session=self._session,
                asked_of_socket=of_socket,
                asked_of_item=of_item,
                env=agent.env if agent else (),
                max_bytes=self.bench.limits.max_answer_bytes,
                lane=self.bench.stream or "",
                sessions=self.bench.folder.root / "sessions",
                owner=self.bench.cast_id,
                stop=self.bench.stop,
            )
        )

    def _record(self, reply: Reply, files: list[Json], seconds: float) -> None:
        visit = self.visit
        turn = Turn(
            socket=visit.socket.id,
            materia=visit.materia.name,
            item_key=visit.item.key if visit.item else None,
            item_label=visit.item.label if visit.item else None,
            visit=visit.number,
            turn=self._turns,
            usage=reply.usage,
            model=reply.model,
            provider=reply.provider,
        )
        self.bench.journal.append(
            TURN,
            sync=False,
            **turn.as_data(),
            session=self.bench.mask.text(reply.session) if reply.session is not None else None,
            stop=reply.stop,
            error=reply.error,
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


def _refuse_failure(bench: Bench, reply: Reply) -> None:
    if reply.stop in _FAILURES:
        why = reply.error or ("the agent was stopped" if reply.stop == "aborted" else "it gave no reason")
        raise VisitFailed("agent", bench.mask.text(f"the agent failed: {why}"))


def _refuse_oversized(limit: int | None, answer: str) -> None:
    size = len(answer.encode("utf-8", "surrogatepass"))
    if limit is not None and size > limit:
        raise VisitFailed("output-limit", f"the answer has {size} bytes, {limit} are allowed")
