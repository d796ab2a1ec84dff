from __future__ import annotations

import pytest
from wcwidth import wcswidth

from materiac.diagnostic import Finding, Located, Place, Severity
from materiac.report import ordered
from materiac.report.text import lines, render, summary
from materiac.source import Source, Span


def located(
    text: str,
    part: str,
    *,
    help: str | None = None,  # noqa: A002 - as in Finding
    message: str = "something is wrong",
    severity: Severity = Severity.ERROR,
    related: tuple[tuple[str, str], ...] = (),
    name: str = "a.json",
    rule: str = "some-rule",
) -> Located:
    """A finding at the first place where `part` stands in the text."""
    source = Source(name, text)

    def place(words: str) -> Place:
        start = text.index(words)
        return Place(source, Span(start, start + len(words)))

    return Located(
        Finding(rule, severity, message, place(part).span, help=help),
        place(part),
        tuple((place(where), words) for where, words in related),
    )


FAMILY = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
NO_PLACE = Located(
    Finding("missing-file", Severity.WARNING, "no loadout here", (), help="name one"), place=None
)


def test_help_stands_after_the_carets() -> None:
    text = "\n" * 13 + '        { "when": "not_satisfied", "to": "Bulid" }\n'
    assert lines(located(text, '"Bulid"', help="did you mean 'Build'?"), colour=False) == (
        "a.json:14:42: error[some-rule]: something is wrong\n"
        '   14 |         { "when": "not_satisfied", "to": "Bulid" }\n'
        "      |                                          ^^^^^^^ did you mean 'Build'?"
    )


def test_long_help_has_a_line_of_its_own() -> None:
    assert lines(located('{"a": 1}', '"a"', help="h" * 120), colour=False) == (
        "a.json:1:2: error[some-rule]: something is wrong\n"
        '    1 | {"a": 1}\n'
        "      |  ^^^\n"
        f"      = help: {'h' * 120}"
    )


def test_related_places_follow() -> None:
    found = located('{"a": 1,\n "a" : 2}', '"a" ', related=(('"a":', "first written here"),))
    assert lines(found, colour=False) == (
        "a.json:2:2: error[some-rule]: something is wrong\n"
        '    2 |  "a" : 2}\n'
        "      |  ^^^^\n"
        "a.json:1:2: note: first written here\n"
        '    1 | {"a": 1,\n'
        "      |  ^^^^"
    )


def test_without_a_place() -> None:
    assert lines(NO_PLACE, colour=False) == "warning[missing-file]: no loadout here\n      = help: name one"


@pytest.mark.parametrize(
    ("text", "part", "line", "carets"),
    [
        pytest.param("\t\t{x}", "{x}", "\t\t{x}", "\t\t^^^", id="tabs-stay-tabs"),
        pytest.param("a\tb{x}", "{x}", "a\tb{x}", " \t ^^^", id="tab-in-the-line"),
        pytest.param("ab\tcd", "b\tc", "ab\tcd", " ^^^^^^^^", id="tab-under-the-carets"),
        pytest.param("日本{x}", "{x}", "日本{x}", "    ^^^", id="double-width-before"),
        pytest.param("a日本b", "日本", "a日本b", " ^^^^", id="double-width-below"),
        pytest.param("e\u0301e\u0301{x}", "{x}", "e\u0301e\u0301{x}", "  ^^^", id="combining-marks"),
        pytest.param(f"{FAMILY}{{x}}", "{x}", f"{FAMILY}{{x}}", "  ^^^", id="joined-emoji"),
        pytest.param("\U0001f469\tb", "b", "\U0001f469\tb", "  \t^", id="emoji-and-tab"),
        pytest.param("{x", "", "{x", "^", id="empty-place"),
        pytest.param("[1,\n2]  ", "[1,\n2]", "[1,", "^^^", id="several-lines"),
        pytest.param("{  \r\n}", "{  \r\n}", "{", "^", id="several-lines-and-white-space"),
        pytest.param("", "", "", "^", id="empty-text"),
        pytest.param("ab", "b", "ab", " ^", id="end-of-text"),
        pytest.param("\x1b[2Ja", "a", "␛[2Ja", "    ^", id="escape-sequence"),
        pytest.param("\u202e\x9b\x7fa", "a", "��␡a", "   ^", id="other-controls"),
        pytest.param("\ud800a", "a", "�a", " ^", id="surrogate"),
    ],
)
def test_carets_stand_under_the_place(text: str, part: str, line: str, carets: str) -> None:
    _, shown, below = lines(located(text, part), colour=False).split("\n")
    assert shown == f"    1 | {line}".rstrip()
    assert below == f"      | {carets}"


def test_place_at_the_end_of_a_line() -> None:
    source = Source("a.json", "[1,\r\n")
    finding = Finding("syntax", Severity.ERROR, "m", Span(3, 3))
    shown = lines(Located(finding, Place(source, Span(3, 3))), colour=False)
    assert shown.endswith("\n    1 | [1,\n      |    ^")


@pytest.mark.parametrize(
    ("before", "part", "after"),
    [
        pytest.param("x" * 500, "{here}", "y" * 500, id="in-the-middle"),
        pytest.param("", "{here}", "y" * 500, id="at-the-start"),
        pytest.param("x" * 500, "{here}", "", id="at-the-end"),
        pytest.param("x" * 500, "{" * 500, "y" * 500, id="long-place"),
        pytest.param("日" * 500, "{here}", "日" * 500, id="double-width"),
        pytest.param("e\u0301" * 500, "{here}", "e\u0301" * 500, id="combining-marks"),
        pytest.param("\U0001f469\u200d\U0001f467" * 99, "{here}", "\U0001f469\u200d" * 99, id="joined-emoji"),
        pytest.param("日" * 60, "{here}", "日" * 60, id="wide-though-not-long"),
    ],
)
def test_long_lines_are_cut_around_the_place(before: str, part: str, after: str) -> None:
    _, shown, below = lines(located(before + part + after, part), colour=False).split("\n")
    assert wcswidth(shown) <= 168
    assert wcswidth(below) <= wcswidth(shown)
    assert shown[8:].startswith("…") == bool(before)
    assert shown.endswith("…") == (bool(after) or len(part) > 100)
    start = shown.index("{")
    assert wcswidth(shown[:start]) == below.index("^")
    assert shown[start:].startswith("{" * below.count("^") if part[1] == "{" else part)


def test_wide_line_numbers_keep_the_bar_in_line() -> None:
    _, shown, below = lines(located("\n" * 123_455 + "\t{x}", "{x}"), colour=False).split("\n")
    assert (shown, below) == ("123456 | \t{x}", "       | \t^^^")


def test_no_control_character_reaches_the_terminal() -> None:
    found = located(
        "\x1b]0;a\x07b",
        "b",
        message="x\x1b[31m\r\ny",
        help="h\x1b[0m\n",
        name="\x1b[1m.json\udcff",
        rule="r\x1b",
        related=(("b", "w\x9b1m\u202e"),),
    )
    shown = lines(found, colour=False)
    assert all(character.isprintable() or character == "\n" for character in shown)
    assert shown.count("\n") == 5
    shown.encode()


def test_colour_is_a_layer_over_the_same_text() -> None:
    found = located('{"a": 1}', '"a"', help="h", related=(("1", "here"),), severity=Severity.WARNING)
    coloured = lines(found, colour=True)
    assert "\x1b[1;33mwarning[some-rule]\x1b[0m" in coloured
    for code in ("1", "2", "0", "1;33"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured == lines(found, colour=False)


def test_render_ends_each_finding() -> None:
    found = located("{}", "{}")
    one = lines(found, colour=False)
    assert render([found, NO_PLACE], colour=False) == f"{one}\n{lines(NO_PLACE, colour=False)}\n"
    assert render([], colour=False) == ""


@pytest.mark.parametrize(
    ("severities", "words"),
    [
        ("", "no findings"),
        ("e", "1 error"),
        ("iwewi", "1 error, 2 warnings, 2 infos"),
        ("iee", "2 errors, 1 info"),
    ],
    ids=str,
)
def test_summary(severities: str, words: str) -> None:
    by_letter = {severity.word[0]: severity for severity in Severity}
    assert summary(located("x", "x", severity=by_letter[letter]) for letter in severities) == words


def test_order() -> None:
    text = "abc"
    expected = [
        NO_PLACE,
        located(text, "c", name="a.json", rule="z"),
        located(text, "a", rule="z", name="b.json"),
        located(text, "b", rule="y", message="m", name="b.json"),
        located(text, "b", rule="y", message="n", name="b.json"),
        located(text, "b", rule="z", message="a", name="b.json"),
    ]
    assert ordered(reversed(expected)) == expected


def test_place_comes_before_rule() -> None:
    near, far = located("ab", "a", rule="z"), located("ab", "b", rule="a")
    assert ordered([far, near]) == [near, far]
