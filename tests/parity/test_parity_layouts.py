"""A sound loadout is the same program in both spellings and any layout, before and after it is laid out."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sound import Json, other_layouts, sound_files

from materiac import formatting
from materiac.pipeline import Text, compile_loadout
from materiac.source import Language

ROUNDS = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def digest(text: str, language: Language) -> str:
    compiled = compile_loadout([Text("x", text.encode(), language=language)])
    assert compiled.image is not None, compiled.findings
    return compiled.image.program.digest()


@ROUNDS
@given(sound_files())
def test_both_spellings_are_one_program(data: Json) -> None:
    one, other = formatting.written(data, "json"), formatting.written(data, "dsl")
    assert digest(one, "json") == digest(other, "dsl")


@ROUNDS
@given(sound_files(), st.data())
def test_any_layout_is_the_same_program(data: Json, draws: st.DataObject) -> None:
    text = formatting.written(data, "dsl")
    untidy = draws.draw(other_layouts(text))
    tidy = formatting.formatted(untidy, "dsl")
    assert digest(untidy, "dsl") == digest(tidy, "dsl") == digest(text, "dsl")
    assert formatting.formatted(tidy, "dsl") == tidy


@ROUNDS
@given(sound_files())
@pytest.mark.parametrize("ends", ["\r\n", "\r"], ids=["crlf", "cr"])
def test_line_ends_mean_nothing(ends: str, data: Json) -> None:
    text = formatting.written(data, "dsl")
    other = text.replace("\n", ends)
    assert digest(other, "dsl") == digest(text, "dsl")
    assert formatting.formatted(other, "dsl") == text
