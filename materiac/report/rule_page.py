"""The pages of the rules, taken apart for reports that carry them along."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from materiac.resources import folder


@dataclass(frozen=True)
class RulePage:
    """The page of a rule, which begins with its name, its severity and a summary, and tells why."""

    rule: str
    text: str = field(repr=False)

    @property
    def severity(self) -> str:
        return self._headline[0].strip("*")

    @property
    def summary(self) -> str:
        return self._headline[1]

    @property
    def reasons(self) -> str:
        """What stands between the summary and the examples, a line a paragraph."""
        introduction = self.text.split("\n## ", 1)[0]
        return "\n".join(part.replace("\n", " ") for part in introduction.strip().split("\n\n")[2:])

    @cached_property
    def _headline(self) -> tuple[str, str]:
        severity, _, summary = self.text.split("\n", 3)[2].partition(": ")
        return severity, summary


def read(rule: str) -> RulePage:
    """The page of a rule, as `explain` shows it."""
    return RulePage(rule, (folder("rules") / f"{rule}.md").read_text(encoding="utf-8"))
