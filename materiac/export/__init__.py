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
    {"budget", "edge-budgets", "loops", "multi-turn", "properties", "stall-guard", "tools", "visit-limits"}
)


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
    "mermaid": Format(_mermaid, _PICTURED | {"parallel"}, "a Mermaid flowchart, a picture"),
    "plantuml": Format(plantuml.render, _PICTURED | {"parallel"}, "a PlantUML state diagram, a picture"),
    "scxml": Format(
        scxml.render,
        frozenset({"assign", "edge-budgets", "item-budgets", "loops", "visit-limits", "utilities"}),
        "a state chart in SCXML with the datamodel of ECMAScript",
    ),
    "python": Format(
        python_module.render,
        frozenset(
            {"assign", "edge-budgets", "item-budgets", "loops", "stall-guard", "visit-limits"}
            | {"prompts", "tools", "utilities", "timeouts"}
        ),
        "a Python module that needs nothing but `transitions`",
    ),
}
"""The languages, by the names that the command line has for them."""
