"""A visit of an agent: the prompt, the turns, the talk with a person, the one repair."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from materiac.environment import Mask
from materiac.runtime import contract, prompt
from materiac.runtime.bench import Bench
from materiac.runtime.chronicle import WORDS
from materiac.runtime.contract import Accepted, Contract
from materiac.runtime.handoff import HandoffError, find_object
from materiac.runtime.handover import TOOL, Handover, choose
from materiac.runtime.prompt import PromptView
from materiac.runtime.turns import Turns
from materiac.runtime.visit import Json, Output, Visit, VisitFailed, VisitWaits, characters

MAX_WAITING: Final = 200
"""How many characters of an answer a message shows that says that it waits for a person."""


def ask(bench: Bench, visit: Visit, view: PromptView) -> Output:
    """Ask the agent of a socket. Raises `VisitFailed`, and `VisitWaits` where a person has to speak."""
    conversation = _Conversation(bench, visit, view)
    answer = conversation.open()
    if visit.materia.agent is not None and visit.materia.agent.multi_turn:
        answer = conversation.talk(answer)
    if visit.socket.parse == "text":
        return Output(answer, files=conversation.files)
    return _object(conversation, answer)


def _object(conversation: _Conversation, answer: str) -> Output:
    """The object in an answer; a bad one is asked for once more."""
    accepted, problems = conversation.read(answer)
    while accepted is None:
        answer = conversation.repair(problems, answer)
        accepted, problems = conversation.read(answer)
        if accepted is None and not conversation.is_tried_again():
            words = f"the answer was refused after one repair turn: {'; '.join(problems)}"
            raise VisitFailed("output", words)
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
    """A visit's talk with its agent, and maybe with a person."""

    def __init__(self, bench: Bench, visit: Visit, view: PromptView) -> None:
        self.bench, self.visit = bench, visit
        wanted = visit.socket.parse == "json"
        self._wanted = contract.contract_of(bench.program, visit.socket) if wanted else None
        self._talks = visit.materia.agent is not None and visit.materia.agent.multi_turn
        self._handover = Handover() if self._talks else self._chosen()
        view = replace(view, by_tool=self._handover.kind == TOOL)
        self.opening = bench.mask.text(prompt.build(view))
        self._turns = Turns(bench, visit)
        self._last_prompt = self.opening
        self._words: list[str] = []
        self._repairs = 0

    @property
    def files(self) -> list[Json]:
        """The files of all turns so far."""
        return self._turns.files

    def open(self) -> str:
        """The first turn; gives the answer."""
        return self._turns.turn(self.opening, self.opening, self._handover)

    def read(self, answer: str) -> tuple[Accepted | None, Sequence[str]]:
        """The object of the last turn, or what is wrong with it."""
        if self._wanted is None:
            raise TypeError(f"'{self.visit.socket.id}' reads text")
        if self._turns.handover.problems:
            return None, self._turns.handover.problems
        return read(answer, self._wanted, self.bench.mask)

    def repair(self, problems: Sequence[str], answer: str) -> str:
        """The repair turn, which repeats the last prompt; gives the answer."""
        by_tool = self._handover.kind == TOOL
        text = prompt.repair(self._last_prompt, problems, answer, self._wanted, by_tool=by_tool)
        self._repairs += 1
        return self._turns.turn(text, text, self._handover, repair=self._repairs)

    def is_tried_again(self) -> bool:
        """Whether a person had the end of a talk tried again that has failed: the talk itself stays."""
        return self._talks and self.bench.journal.tried_again()

    def talk(self, answer: str) -> str:
        """Let a person refine the answers, turn by turn, until the final form is asked for."""
        number = 1
        while True:
            number += 1
            words = self._words_to(answer, number)
            if words is None:
                self._handover = self._chosen()
            answer = self._say(words, number)
            if words is None:
                return answer

    def _say(self, words: str | None, number: int) -> str:
        """The next turn of a talk; a back end that keeps no session is told the talk so far."""
        final = prompt.final_form(self._wanted, by_tool=self._handover.kind == TOOL)
        said = final if words is None else words
        self._words.append(said)
        whole = self._whole()
        self._last_prompt = whole if self._turns.session is None else said
        return self._turns.turn(self._last_prompt, whole, self._handover, number=number)

    def _chosen(self) -> Handover:
        return Handover() if self._wanted is None else choose(self.bench, self.visit, self._wanted)

    def _whole(self) -> str:
        told = [self.opening]
        for answer, said in zip(self._turns.answers, self._words, strict=True):
            told += [f"## You answered\n\n{answer.strip()}", f"## The person says\n\n{said.strip()}"]
        return "\n\n".join(told) + "\n"

    def _words_to(self, answer: str, number: int) -> str | None:
        """What the person says to an answer, now or as the journal tells; None for the final form."""
        bench, visit = self.bench, self.visit
        told = bench.journal.take(WORDS, pauses=True)
        if told is not None:
            self.files.extend(told.fields["files"])
            return next((bench.folder.content(file).decode() for file in told.fields["files"]), None)
        said = self._said_to(answer)
        words = None if said is None else bench.mask.text(characters(said))
        self._refuse_endless(words or "", answer)
        files = []
        if words is not None:
            files = [bench.folder.output(*visit.id, words, ".said.md", turn=number).as_data()]
        file = files[0]["file"] if files else None
        bench.journal.append(WORDS, **visit.place(), turn=number, file=file, files=files)
        self.files.extend(files)
        return words

    def _refuse_endless(self, words: str, answer: str) -> None:
        size, limit = len(words.encode("utf-8", "surrogatepass")), self.bench.limits.max_prompt_bytes
        if size > limit:
            told = f"what was said has {size} bytes, {limit} are allowed by 'limits.maxPromptBytes'"
            raise VisitWaits(f"{told}: '{self.visit.socket.id}' waits for other words", answer=answer)

    def _said_to(self, answer: str) -> str | None:
        with contextlib.suppress(VisitWaits):
            if self.bench.person is not None:
                return self.bench.person.say(answer)
        shown = " ".join(answer.split())[:MAX_WAITING]
        raise VisitWaits(f"'{self.visit.socket.id}' waits for a person: {shown}", answer=answer)
