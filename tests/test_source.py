from __future__ import annotations

import pytest

from materiac.source import KEY, Document, Pointer, Position, Source, Span


@pytest.mark.parametrize(
    ("text", "offset", "line", "column"),
    [
        pytest.param("", 0, 1, 1, id="empty"),
        pytest.param("ab", 2, 1, 3, id="end-of-text"),
        pytest.param("a\nb", 1, 1, 2, id="the-break-itself"),
        pytest.param("a\nb", 2, 2, 1, id="lf"),
        pytest.param("a\r\nb", 3, 2, 1, id="crlf-is-one-break"),
        pytest.param("a\rb", 2, 2, 1, id="lone-cr"),
        pytest.param("a\n\nb", 3, 3, 1, id="empty-line"),
        pytest.param("日本\U0001f469x", 3, 1, 4, id="columns-are-characters"),
        pytest.param("a\u2028b", 2, 1, 3, id="other-separators-do-not-break"),
        pytest.param("a\n", 2, 2, 1, id="after-last-break"),
    ],
)
def test_position(text: str, offset: int, line: int, column: int) -> None:
    assert Source("x", text).position(offset) == Position(line, column)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", [""], id="empty"),
        pytest.param("a\nb\r\nc\rd", ["a", "b", "c", "d"], id="all-breaks"),
        pytest.param("a\n", ["a", ""], id="ends-with-a-break"),
        pytest.param("a \n\tb", ["a ", "\tb"], id="white-space-stays"),
    ],
)
def test_line(text: str, expected: list[str]) -> None:
    source = Source("x", text)
    assert [source.line(number) for number in range(1, len(expected) + 1)] == expected


def test_spans_are_made_once_and_late() -> None:
    calls: list[str] = []

    def index() -> dict[Pointer, Span]:
        calls.append("made")
        return {(): Span(0, 2)}

    document = Document(Source("x", "{}"), {}, index)
    assert calls == []
    assert document.span(()) == document.span(("a",)) == Span(0, 2)
    assert calls == ["made"]


SPANS: dict[Pointer, Span] = {
    (): Span(0, 90),
    ("a",): Span(5, 40),
    ("a", KEY): Span(1, 4),
    ("a", 0): Span(6, 10),
    ("old",): Span(50, 60),
    ("old", "x"): Span(52, 55),
}


@pytest.mark.parametrize(
    ("pointer", "span"),
    [
        pytest.param(("a", 0), Span(6, 10), id="value"),
        pytest.param(("a", KEY), Span(1, 4), id="key"),
        pytest.param(("a", 7, "b"), Span(5, 40), id="nearest-around"),
        pytest.param(("b",), Span(0, 90), id="root-around"),
        pytest.param(("new", 1, "x"), Span(52, 55), id="moved-by-its-prefix"),
        pytest.param(("new", 1), Span(50, 60), id="moved"),
        pytest.param(("new", 1, "y"), Span(50, 60), id="moved-and-nearest"),
        pytest.param(("new", 1, "x", "z"), Span(6, 10), id="longest-prefix-counts"),
    ],
)
def test_span(pointer: Pointer, span: Span) -> None:
    moved: dict[Pointer, Pointer] = {("new", 1): ("old",), ("new", 1, "x", "z"): ("a", 0)}
    assert Document(Source("x", ""), {}, lambda: SPANS, moved).span(pointer) == span
