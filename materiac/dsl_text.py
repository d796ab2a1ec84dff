"""The language that people write, with places: a source to a document, by grammar/materia.lark.

This module alone knows lark. Its tables are made from the grammar once and kept in the user's cache.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, cast

import lark
from lark.exceptions import UnexpectedCharacters, UnexpectedToken

from materiac import collector
from materiac.diagnostic import Finding
from materiac.dsl_build import Builder
from materiac.dsl_directives import add_directives
from materiac.dsl_faults import Unexpected, explain
from materiac.dsl_tree import Node
from materiac.resources import folder
from materiac.source import Document, Pointer, Source, Span


def read(source: Source) -> tuple[Document | None, list[Finding]]:
    """Read a text. There is a document where there are no findings; every finding is an error at a span."""
    with collector.paused():
        tree, findings = parse(source.text)
        if tree is None:
            return None, findings
        builder = Builder(source.text)
        builder.run(tree)
        add_directives(source.text, builder)
    if builder.findings:
        return None, sorted(builder.findings, key=lambda finding: cast("Span", finding.at))
    return Document(source, builder.data, lambda: builder.spans), []


def parse(text: str) -> tuple[Node | None, list[Finding]]:
    """The tree of a text; where there is none, the first thing that is wrong with it."""
    try:
        return cast("Node", _parser().parse(text)), []
    except UnexpectedToken as error:
        token = error.token
        start = len(text) if token.type == "$END" else token.start_pos or 0
        kind = "END" if token.type == "$END" else token.type
        end = start if kind == "END" else token.end_pos or start + 1
        unexpected = Unexpected(kind, start, end, frozenset(error.accepts or error.expected))
    except UnexpectedCharacters as error:
        start = error.pos_in_stream or 0
        unexpected = Unexpected("JUNK", start, start + 1, frozenset(error.allowed or ()))
    return None, [explain(text, unexpected)]


def statements(text: str) -> list[tuple[Span, Pointer]]:
    """The statements of a sound text that a finding can be about, with their pointers."""
    builder = Builder(text)
    tree, _ = parse(text)
    if tree is not None:
        builder.run(tree)
    return builder.marks


class _AnyWhere:
    """Words, strings and what is no word are seen everywhere, so that an error can name what was found."""

    always_accept: ClassVar = ("WORD", "STRING", "JUNK")

    @staticmethod
    def process(stream: Iterator[lark.Token]) -> Iterator[lark.Token]:
        return stream


@functools.cache
def _parser() -> lark.Lark:
    grammar = (folder("grammar") / "materia.lark").read_text(encoding="utf-8")
    cache = _cache(grammar)
    return lark.Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        postlex=_AnyWhere(),
        maybe_placeholders=False,
        tree_class=Node,
        cache=str(cache) if cache is not None else False,
    )


def _cache(grammar: str) -> Path | None:
    """The file of the tables, which lark makes, and makes again where it is damaged or of another version."""
    logging.getLogger("lark").addHandler(logging.NullHandler())
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        home = (cache if cache.is_absolute() else Path.home() / ".cache") / "materiac"
        home.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    digest = hashlib.sha256(f"{lark.__version__}\n{grammar}".encode()).hexdigest()
    return home / f"grammar-{digest[:16]}"
