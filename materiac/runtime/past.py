"""A cast as its folder tells it: its records, its programs, and the cast before its first step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from materiac.agents.protocol import Agent
from materiac.environment import MASK, Mask
from materiac.program import Budget, Image, Program, image_from_data
from materiac.runtime.artifacts import CastFolder, renamings
from materiac.runtime.bench import Bench, Hears, Person
from materiac.runtime.cast import Cast
from materiac.runtime.chronicle import RESUMED, Chronicle
from materiac.runtime.course import Course
from materiac.runtime.folder_names import folder_names
from materiac.runtime.journal import Record
from materiac.runtime.run import MACHINE
from materiac.runtime.usage import Tally
from materiac.runtime.visit import Json


class PastError(Exception):
    """A folder does not tell of a cast that could be gone through again."""


@dataclass(frozen=True)
class Past:
    """What is known of a cast. `hashes` are those of its programs by file, in the order of their use."""

    root: Path
    records: Sequence[Record]
    hashes: Mapping[str, str]

    @classmethod
    def of(cls, root: Path, records: Sequence[Record]) -> Past:
        """From the records of a cast's journal. Raises `PastError` where there is no beginning."""
        if not records or records[0].type != "cast_started":
            raise PastError(
                f"nothing was done in '{root}': its journal does not tell of a beginning; run it anew"
            )
        hashes = {MACHINE: str(records[0].fields["hash"])}
        resumed = (record.fields for record in records if record.type == RESUMED)
        hashes |= {fields["machine"]: fields["hash"] for fields in resumed}
        return cls(root, records, hashes)

    @property
    def began(self) -> Json:
        """What the cast began with."""
        return self.records[0].fields

    @property
    def machine(self) -> str:
        """The file with the program that the cast had last."""
        return next((r.fields["machine"] for r in reversed(self.records) if r.type == RESUMED), MACHINE)

    def images(self, known: Mapping[str, Image], *, masked: bool = False) -> dict[str, Image]:
        """The definitions of the cast by file: those `known` by their hashes, else as they were stored.

        One that was stored with a secret masked in it serves only if it may be `masked`. Raises
        `PastError` where one is gone, or was changed.
        """
        return {
            file: known.get(hash_) or self._stored(file, hash_, masked=masked)
            for file, hash_ in self.hashes.items()
        }

    def _stored(self, file: str, hash_: str, *, masked: bool) -> Image:
        path = self.root / file
        try:
            text = path.read_text(encoding="utf-8")
            image = image_from_data(json.loads(text), checked=MASK not in text)
        except (OSError, ValueError, RecursionError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise PastError(
                f"the machine '{path}' that the cast was run with cannot be used: {why}"
            ) from error
        if image.program.digest() != hash_ and not (masked and MASK in text):
            secret = ": a secret in it was masked" if MASK in text else ""
            raise PastError(f"'{path}' is not the machine that the journal tells of{secret}")
        return image

    @property
    def loadout(self) -> str:
        """The name of the loadout that the cast had last."""
        told = (r for r in reversed(self.records) if r.type == RESUMED and "loadout" in r.fields)
        return str(next(told, self.records[0]).fields["loadout"])

    @property
    def agent(self) -> str:
        """Who answered last, as `--agent` names it."""
        return next(str(r.fields["agent"]) for r in reversed(self.records) if "agent" in r.fields)

    @property
    def raised(self) -> tuple[int | None, float | None]:
        """The limits of the budget, in tokens and US dollars, that were raised when the cast was resumed."""
        last = next((record.fields for record in reversed(self.records) if record.type == RESUMED), {})
        return last.get("maxTokens"), last.get("maxCostUsd")

    def budget(self, program: Program) -> Budget:
        """What the cast may spend: as its program says, or as was said when it was resumed."""
        return raised(program.budget, *self.raised)

    def cast(
        self,
        images: Mapping[str, Image],
        chronicle: Chronicle,
        agent: Agent,
        tally: Tally,
        *,
        mask: Mask,
        environ: Mapping[str, str],
        person: Person | None = None,
        hears: Hears | None = None,
    ) -> Cast:
        """The cast before its first step, which goes the way that the chronicle tells."""
        programs = {file: image.program for file, image in images.items()}
        program, began = programs[MACHINE], self.began
        bench = Bench(
            program=program,
            budget=self.budget(programs[self.machine]),
            limits=images[self.machine].settings.limits,
            recovery=images[self.machine].settings.recovery,
            cast_id=began["castId"],
            request=began["request"],
            folder=CastFolder(self.root, folder_names(program.sockets), renamed=renamings(self.records)),
            journal=chronicle,
            tally=tally,
            agent=agent,
            person=person,
            hears=hears,
            cwd=Path(began["cwd"]),
            environ=environ,
            mask=mask,
            programs=programs,
        )
        return Cast(bench, began.get("state"), Course(self.records))


def raised(budget: Budget, tokens: int | None, dollars: float | None) -> Budget:
    """A budget with other limits, where there are any."""
    return replace(
        budget, max_tokens=tokens or budget.max_tokens, max_cost_usd=dollars or budget.max_cost_usd
    )
