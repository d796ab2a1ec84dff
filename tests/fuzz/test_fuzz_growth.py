"""Texts that repeat something often are read and laid out in a time that grows no faster than they do."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from materiac import formatting, languages
from materiac.source import Language

TIMES = 8_000
BOUND_S = 5.0
"""Of the processor, on a slow machine; growth with the square of the text would take several times that."""

IGNORE = "# materiac: ignore[x] y\n"
SOCKETS = "".join(f"  s{n}: B -> end\n" for n in range(TIMES // 4))

REPEATED: dict[str, tuple[Language, Callable[[int], str]]] = {
    "directives before a statement": ("dsl", lambda n: f"loadout L {{\n{IGNORE * n}a: B }}"),
    "directives before nothing": ("dsl", lambda n: f"loadout L {{ a: B }}\nlimits {{\n{IGNORE * n}}}"),
    "directives behind parts": (
        "dsl",
        lambda n: "loadout L {\n" + SOCKETS + f"never a before b {IGNORE}" * n + "}",
    ),
    "directives behind two sockets": (
        "dsl",
        lambda n: "loadout L {\n" + "".join(f"a{i}: B b{i}: B {IGNORE}" for i in range(n // 2)) + "}",
    ),
    "comments behind sockets": ("dsl", lambda _: "loadout L {\n" + SOCKETS.replace("\n", "# é\n") + "}"),
    "brackets": ("dsl", lambda n: f"@x {'[' * n}{']' * n}"),
    "blank lines of a block": ("dsl", lambda n: 'materia A { prompt """\n  x' + "\n" * n + '"""}'),
    "indent that is shared by none": ("dsl", lambda n: '@x """\n' + "\t" * n * 10 + 'x\n y\n"""'),
    "quotes": ("dsl", lambda n: "@x " + '"' * n),
    "line breaks at the end": ("json", lambda n: "{}" + "\n" * n * 10),
    "brackets in JSON": ("json", lambda n: "[" * n + "]" * n),
    "commas too many": ("json", lambda n: '{"a": [' + "[1,], " * n + "1]}"),
    "open comments": ("json", lambda n: "/*" * n),
    "bad escapes": ("json", lambda n: '{"a": "' + r"\q" * n + '"}'),
}


@pytest.mark.parametrize("what", REPEATED)
def test_growth(what: str) -> None:
    language, make = REPEATED[what]
    text = make(TIMES)
    before = time.process_time()
    document, _ = languages.document("x", text.encode(), language)
    if document is not None:
        assert document.spans
        formatting.formatted(text, language)
    assert time.process_time() - before < BOUND_S
