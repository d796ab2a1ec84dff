"""A visit of an agent: the prompt, the turns, the talk with a person, the one repair."""

from __future__ import annotations

import json
from collections.abc import Sequence

from materiac.agents.protocol import AgentError, Reply, Request
from materiac.runtime import contract, prompt
from materiac.runtime.bench import Bench
from materiac.runtime.contract import Accepted, Contract
from materiac.runtime.handoff import HandoffError, find_object
from materiac.runtime.prompt import PromptView
from materiac.runtime.usage import TURN, Turn
from materiac.runtime.visit import Json, Output, Visit, VisitFailed, VisitWaits, characters
from materiac.utilities.environment import Mask


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
    return bench.folder.output(*visit.id, text, ".json").as_data()


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
        """One turn: the prompt is saved, then asked, and the answer is saved before it is looked at."""
        bench, visit = self.bench, self.visit
        socket, self._turns = visit.socket, self._turns + 1
        written = bench.folder.context(*visit.id, text, turn=number, repair=repair)
        try:
            reply = self._asked(text)
        except VisitFailed as failure:
            failure.files = [written.as_data()]
            raise
        answer = bench.mask.text(reply.text)
        saved = bench.folder.output(*visit.id, answer, ".md", turn=number, repair=repair)
        self._session = reply.session or self._session
        files = [written.as_data(), saved.as_data()]
        self.files += files
        self._record(reply, files)
        _refuse_oversized(socket.max_output_bytes, answer)
        self._last_prompt = text
        self._answers.append(answer)
        return answer

    def talk(self, answer: str) -> str:
        """Let a person refine the answers, turn by turn, until the final form is asked for."""
        person, number = self.bench.person, 1
        while True:
            if person is None:
                raise VisitWaits(f"'{self.visit.socket.id}' waits for a person: {answer.strip()[:200]}")
            words = person.say(answer)
            reached = self.bench.over_budget()
            if reached is not None:
                raise _out_of_budget(self.bench, reached)
            number += 1
            if words is None:
                final = prompt.final_form(self._wanted())
                return self.turn(self._onward(final), number=number)
            answer = self.turn(self._onward(self.bench.mask.text(characters(words))), number=number)

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

    def _asked(self, text: str) -> Reply:
        visit, agent = self.visit, self.visit.materia.agent
        request = Request(
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
        )
        try:
            reply = self.bench.agent.turn(request)
        except AgentError as error:
            raise VisitFailed("agent", self.bench.mask.text(str(error))) from error
        if reply.stop in ("error", "aborted"):
            self._record(reply, [])
            why = reply.error or ("the agent was stopped" if reply.stop == "aborted" else "it gave no reason")
            raise VisitFailed("agent", self.bench.mask.text(f"the agent failed: {why}"))
        return reply

    def _record(self, reply: Reply, files: list[Json]) -> None:
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
        extra = {"session": reply.session, "stop": reply.stop, "files": files}
        self.bench.journal.append(TURN, sync=False, **turn.as_data(), **extra)


def _refuse_oversized(limit: int | None, answer: str) -> None:
    size = len(answer.encode("utf-8", "surrogatepass"))
    if limit is not None and size > limit:
        raise VisitFailed("output-limit", f"the answer has {size} bytes, {limit} are allowed")


def _out_of_budget(bench: Bench, reached: str) -> Exception:
    if bench.budget.stop_at_limit:
        return VisitFailed("budget", reached)
    return VisitWaits(f"{reached}: the cast waits for a higher limit")
