"""The language that people write, with places: a source to a document, by grammar/materia.lark.

This module alone knows lark. Its tables are made from the grammar once and kept in the user's cache.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import ClassVar, cast

import lark
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from materiac import collector
from materiac.diagnostic import Finding
from materiac.dsl_build import Builder
from materiac.dsl_directives import add_directives
from materiac.dsl_faults import Unexpected, explain
from materiac.dsl_tree import Node, Token
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
        slips = add_directives(source.text, builder)
    if builder.findings:
        return None, sorted(builder.findings, key=lambda finding: cast("Span", finding.at))
    return Document(source, builder.data, lambda: builder.spans, slips=slips), []


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


def unfinished(text: str) -> tuple[list[Token], frozenset[str]] | None:
    """The tokens of a text that breaks off, and the terminals that may come next; None if it is unsound."""
    parser = _parser().parse_interactive(text)
    try:
        tokens = list(parser.exhaust_lexer())
    except UnexpectedInput:
        return None
    expected: Callable[[], set[str]] = parser.accepts
    return cast("list[Token]", tokens), frozenset(expected())


@functools.cache
def keywords() -> dict[str, str]:
    """The words that mean something somewhere, by their terminals."""
    patterns = {terminal.name: terminal.pattern for terminal in _parser().terminals}
    return {name: pattern.value for name, pattern in patterns.items() if pattern.value.isidentifier()}


class _AnyWhere:
    """Words, strings and what is no word are seen everywhere, so that an error can name what was found."""

    always_accept: ClassVar = ("WORD", "STRING", "JUNK")

    @staticmethod
    def process(stream: Iterator[lark.Token]) -> Iterator[lark.Token]:
        return stream


@functools.cache
def _parser() -> lark.Lark:
    grammar = (folder("grammar") / "materia.lark").read_text(encoding="utf-8")
    tables = _tables(grammar)
    if tables is None or _sound(tables):
        return _made(grammar, tables)
    parser = _made(grammar, tables)
    with suppress(OSError):
        _seal(tables).write_text(_digest(tables), encoding="ascii")
    return parser


def _made(grammar: str, tables: Path | None) -> lark.Lark:
    return lark.Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        postlex=_AnyWhere(),
        maybe_placeholders=False,
        tree_class=Node,
        cache=str(tables) if tables is not None else False,
    )


def _tables(grammar: str) -> Path | None:
    """The file that keeps the tables; lark writes it, and again where it is of another version."""
    logging.getLogger("lark").addHandler(logging.NullHandler())
    cache = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        home = (cache if cache.is_absolute() else Path.home() / ".cache") / "materiac"
        home.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    versions = f"{lark.__version__} {sys.version_info[:2]}\n"
    digest = hashlib.sha256(f"{versions}{grammar}".encode()).hexdigest()
    return home / f"grammar-{digest[:16]}"


def _sound(tables: Path) -> bool:
    """Whether the tables are those that were written; damaged ones are taken away."""
    try:
        sound = _seal(tables).read_text(encoding="ascii") == _digest(tables)
    except (OSError, ValueError):
        sound = False
    if not sound:
        with suppress(OSError):
            tables.unlink()
    return sound


def _seal(tables: Path) -> Path:
    return tables.with_suffix(".sha256")


def _digest(tables: Path) -> str:
    return hashlib.sha256(tables.read_bytes()).hexdigest()
