"""Texts in their canonical layout, and values as texts, in either language."""

from __future__ import annotations

from typing import Any

from materiac import dsl_layout, dsl_print, dsl_print_scenario, dsl_text, json_print
from materiac.dsl_directives import hoisted
from materiac.source import Language


def formatted(text: str, language: Language) -> str:
    """A sound text in the canonical layout. It means the same, and comments keep their places."""
    return json_print.formatted(text) if language == "json" else _laid_out(text)


def _laid_out(text: str) -> str:
    # A statement that gets a line of its own leaves a directive at the end of the line behind.
    return _layout(hoisted(text, dsl_text.statements(text)))


def _layout(text: str) -> str:
    tree, findings = dsl_text.parse(text)
    if tree is None:
        raise ValueError(findings[0].message)
    return dsl_layout.laid_out(text, tree)


def written(data: dict[str, Any], language: Language) -> str:
    """The value of a document as a text that stands for the same value."""
    return json_print.written(data) if language == "json" else _layout(dsl_print.written(data))


def converted(data: dict[str, Any], language: Language) -> str:
    """A document as a text of the other language; in JSON, a scenario alone has no list around it."""
    scenarios = data.get("scenarios")
    if language == "json" and data.keys() == {"scenarios"} and dsl_print_scenario.are_scenarios(scenarios):
        [*others, alone] = data["scenarios"]
        if not others and dsl_print_scenario.stands_alone(alone):
            data = alone
    return written(data, language)
