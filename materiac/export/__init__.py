"""A program in the languages of other tools, and what of it these cannot say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from materiac.export import plantuml, python_module, scxml
from materiac.export.feature import Feature, features
from materiac.program import Image
from materiac.render import render

_PICTURED: Final = frozenset(
    {"budget", "commands", "edge-budgets", "loops", "multi-turn", "output-limits", "parallel", "properties"}
    | {"references", "stall-guard", "timeouts", "tools", "visit-limits"}
)
"""What a picture shows; where there are no prompts there is nothing in them to fill in."""


@dataclass(frozen=True, slots=True)
class Format:
    """A language to export to. `carries` are the kinds of features that it can say."""

    write: Callable[[Image], str]
    carries: frozenset[str]
    summary: str

    def losses(self, image: Image) -> list[Feature]:
        """What the program has and the export has not."""
        return [feature for feature in features(image) if feature.kind not in self.carries]


def _mermaid(image: Image) -> str:
    return render(image, "mermaid").decode()


FORMATS: Final = {
    "mermaid": Format(_mermaid, _PICTURED, "a Mermaid flowchart, a picture"),
    "plantuml": Format(plantuml.render, _PICTURED, "a PlantUML state diagram, a picture"),
    "scxml": Format(
        scxml.render,
        frozenset(
            {"assign", "edge-budgets", "item-budgets", "loops", "patches", "references", "visit-limits"}
        ),
        "a state chart in SCXML with the datamodel of ECMAScript",
    ),
    "python": Format(
        python_module.render,
        frozenset(
            {"assign", "edge-budgets", "item-budgets", "loops", "stall-guard", "visit-limits"}
            | {"commands", "patches", "prompts", "timeouts", "tools"}
        ),
        "a Python module that needs nothing but `transitions`",
    ),
}
"""The languages, by the names that the command line has for them."""
