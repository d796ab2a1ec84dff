"""Texts in their canonical layout, and values as texts, in either language."""

from __future__ import annotations

from typing import Any

from materiac import collector, dsl_layout, dsl_print, dsl_print_scenario, dsl_text, json_print
from materiac.dsl_directives import hoisted
from materiac.dsl_phrases import attribute
from materiac.source import KEY, Document, Language


def formatted(text: str, language: Language) -> str:
    """A sound text in the canonical layout. It means the same, and comments keep their places."""
    with collector.paused():
        return json_print.formatted(text) if language == "json" else _laid_out(text)


def _laid_out(text: str) -> str:
    tidy = _layout(text)
    # Moving a directive may join lines, so that another one comes to stand behind other words.
    while (moved := hoisted(text, tidy, dsl_text.statements)) != text:
        text, tidy = moved, _layout(moved)
    return tidy


def _layout(text: str) -> str:
    tree, findings = dsl_text.parse(text)
    if tree is None:
        raise ValueError(findings[0].message)
    return dsl_layout.laid_out(text, tree)


def written(data: dict[str, Any], language: Language) -> str:
    """The value of a document as a text that stands for the same value."""
    with collector.paused():
        return json_print.written(data) if language == "json" else _layout(dsl_print.written(data))


def converted(data: dict[str, Any], language: Language, *, listed: bool = False) -> str:
    """A document as a text of the other language; in JSON, a scenario alone has no list around it.

    Where one is `listed`, it keeps its list: in the language of our own, that is an attribute.
    """
    alone = _alone(data)
    if alone is None or (language == "json") == listed:
        return written(data, language)
    return _layout(f"{attribute('scenarios', [alone])}\n") if listed else written(alone, "json")


def has_list(document: Document) -> bool:
    """Whether the scenarios of a document are written as a list, and not in statements of their own."""
    if "scenarios" not in document.data:
        return False
    start, end = document.span(("scenarios", KEY))
    return document.source.text[start:end] != "scenario"


def _alone(data: dict[str, Any]) -> dict[str, Any] | None:
    """The only scenario of a document, where it has nothing else and JSON needs no list for it."""
    if data.keys() != {"scenarios"} or not dsl_print_scenario.are_scenarios(data["scenarios"]):
        return None
    only, *others = data["scenarios"]
    return only if not others and dsl_print_scenario.stands_alone(only) else None
