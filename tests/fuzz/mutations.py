"""Inputs made from others: bytes and words changed, moved, doubled and left out."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Sequence

from materiac.resources import folder

LARGEST = 4_000
"""Bytes; longer inputs are cut."""

_WORD = re.compile(rb'"(?:[^"\\\r\n]|\\.)*"|[\w$.-]+|[^\w\s]')
_KEYWORD = re.compile(r'^[A-Z_]+(?:\.\d)?: "(.+)"$', re.MULTILINE)
_NASTY: tuple[bytes, ...] = (
    *(b"\r", b"\n", b"\r\n", b"\t", b" ", b"\0", b"\x0b", b"\x1b[31m", b"\xff", b"\xc3", b"\xef\xbb\xbf"),
    *(b'"', b'"""', b'"""\n', b'\n"""', b"\\", b'\\"""', b"\\u", b"\\ud83d", b"\\ude00", b"\\q", b"'"),
    *("é".encode(), "e\u0301".encode(), "漢".encode(), "🎉".encode(), "\u2028".encode(), "\u202e".encode()),
    *(b"#", b"# materiac: ignore[x] y\n", b"# materiac:", b"//", b"/*", b"->", b"-", b"=>", b"@", b"@x 1 "),
    *(b"0", b"-0", b"1e400", b"1.5", b"007", b"9" * 400, b"NaN", b"null", b"true", b"nul", b"end", b"$.x"),
    *(b"{", b"}", b"[", b"]", b"(", b")", b",", b":", b"=", b"{}", b"[]", b'{"a":', b".workItems"),
    *(b"[" * 300, b"{{", b"}}", b"{{request}}", b"x" * 200, b'"x-materiac"', b'"import"', b'"other"'),
)  # fmt: skip

Chance = random.Random
Mutation = Callable[[bytes, Chance, Sequence[bytes]], bytes]


def words_of(inputs: Iterable[bytes]) -> list[bytes]:
    """What stands in inputs, the keywords of the grammar, and what has made trouble elsewhere."""
    grammar = (folder("grammar") / "materia.lark").read_text(encoding="utf-8")
    found = {word for raw in inputs for word in _WORD.findall(raw) if len(word) < 40}
    return [*sorted(found | {word.encode() for word in _KEYWORD.findall(grammar)}), *_NASTY * 3]


def mutated(raw: bytes, chance: Chance, words: Sequence[bytes], others: Sequence[bytes]) -> bytes:
    """An input with one to six changes, now and then with a part of another."""
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        raw = chance.choice(_MUTATIONS)(raw, chance, words)
    if chance.random() < 0.15:
        raw = _spliced(raw, chance.choice(others), chance)
    return raw[:LARGEST]


def strained(raw: bytes, chance: Chance, words: Sequence[bytes]) -> bytes:
    """An input with one or two changes after which it may well be sound."""
    strain = raw
    for _ in range(chance.choice((1, 1, 2))):
        strain = chance.choice(_STRAINS)(strain, chance, words)
    return strain if len(strain) <= LARGEST else raw


def _spliced(raw: bytes, other: bytes, chance: Chance) -> bytes:
    start, end = _range(other, chance)
    at = chance.randint(0, len(raw))
    return raw[:at] + other[start:end] + raw[at:]


def _range(raw: bytes, chance: Chance) -> tuple[int, int]:
    """A part of an input, more often a short one."""
    start = chance.randint(0, len(raw))
    return start, min(len(raw), start + int(len(raw) ** chance.random()))


def _byte(raw: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    at = chance.randrange(len(raw) + 1)
    return raw[:at] + bytes([chance.randrange(256)]) + raw[at + 1 :]


def _cut(raw: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    start, end = _range(raw, chance)
    return raw[:start] + raw[end:]


def _truncated(raw: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    return raw[: chance.randint(0, len(raw))]


def _doubled(raw: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    start, end = _range(raw, chance)
    return raw[:end] + raw[start:end] * chance.choice((1, 1, 2, 9)) + raw[end:]


def _moved(raw: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    start, end = _range(raw, chance)
    rest = raw[:start] + raw[end:]
    at = chance.randint(0, len(rest))
    return rest[:at] + raw[start:end] + rest[at:]


def _inserted(raw: bytes, chance: Chance, words: Sequence[bytes]) -> bytes:
    """A word more, between two others."""
    places = [match.start() for match in _WORD.finditer(raw)] or [0]
    at = chance.choice(places)
    return raw[:at] + chance.choice(words) + chance.choice((b" ", b"", b"\n")) + raw[at:]


def _inside(raw: bytes, chance: Chance, words: Sequence[bytes]) -> bytes:
    """A word anywhere, also within another."""
    at = chance.randint(0, len(raw))
    return raw[:at] + chance.choice(words) + raw[at:]


def _replaced(raw: bytes, chance: Chance, words: Sequence[bytes]) -> bytes:
    """Another word in the place of one."""
    places = list(_WORD.finditer(raw))
    if not places:
        return chance.choice(words)
    match = chance.choice(places)
    return raw[: match.start()] + chance.choice(words) + raw[match.end() :]


def _swapped(raw: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    """Two words, each in the place of the other."""
    places = list(_WORD.finditer(raw))
    if len(places) < 2:
        return raw
    one, other = sorted(chance.sample(places, 2), key=lambda match: match.start())
    between = raw[one.end() : other.start()]
    return raw[: one.start()] + other[0] + between + one[0] + raw[other.end() :]


def _spaces(raw: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    """Other line breaks or white space throughout."""
    old, new = chance.choice(
        ((b"\n", b"\r\n"), (b"\n", b"\r"), (b"\n", b" "), (b" ", b"\n"), (b" ", b""), (b"\n", b"\n\n"))
    )
    return raw.replace(old, new)


def _layout(raw: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    """Other white space, or a comment, before some words."""
    rate = chance.choice((0.02, 0.1, 0.5))
    pieces, end = [], 0
    for match in _WORD.finditer(raw):
        changed = chance.random() < rate
        pieces += [chance.choice(_GAPS) if changed else raw[end : match.start()], match[0]]
        end = match.end()
    return b"".join([*pieces, raw[end:]])


_GAPS = (
    b"",
    b" ",
    b"\n",
    b"\n",
    b"\n\n",
    b"\t",
    b"\r\n",
    b"\r",
    b" # c\n",
    b"\n# d\n",
    b" # materiac: ignore[x] y\n",
)


def _alike(raw: bytes, chance: Chance, words: Sequence[bytes]) -> bytes:
    """A word that looks like one in its place: a string for a string, a bare word for a bare word."""
    places = [match for match in _WORD.finditer(raw) if _kind(match[0])]
    if not places:
        return raw
    match = chance.choice(places)
    like = [word for word in words if _kind(word) == _kind(match[0])]
    return raw[: match.start()] + chance.choice(like) + raw[match.end() :]


def _kind(word: bytes) -> str:
    if len(word) > 1 and word[:1] == word[-1:] == b'"':
        return "string"
    return "number" if word.isdigit() else "word" if word.isalnum() else ""


def _line(raw: bytes, chance: Chance, _: Sequence[bytes]) -> bytes:
    """A line doubled, moved or left out."""
    lines = raw.splitlines(keepends=True)
    if not lines:
        return raw
    line = chance.choice(lines)
    if chance.random() < 0.7:
        lines.remove(line)
    if chance.random() < 0.7:
        lines.insert(chance.randint(0, len(lines)), line)
    return b"".join(lines)


def _text(raw: bytes, chance: Chance, words: Sequence[bytes]) -> bytes:
    """A piece more within a string."""
    places = [match for match in _WORD.finditer(raw) if _kind(match[0]) == "string"]
    if not places:
        return raw
    match = chance.choice(places)
    at = chance.randint(match.start() + 1, match.end() - 1)
    piece = chance.choice((*_PIECES, chance.choice(words).strip(b'"')))
    return raw[:at] + piece + raw[at:]


_PIECES = (
    b"\\n",
    b"\\r",
    b"\\r\\n",
    b"\\t",
    b"  ",
    b'\\"\\"\\"',
    b"\\\\",
    b"\\u0041",
    b"\\ud83c\\udf89",
    b"#",
    b"\\n  ",
)

_MUTATIONS: tuple[Mutation, ...] = (
    *(_byte, _cut, _truncated, _doubled, _moved),
    *(_inserted, _inserted, _inside, _replaced, _replaced, _swapped, _spaces, _layout, _layout),
)
_STRAINS: tuple[Mutation, ...] = (_layout, _layout, _alike, _alike, _line, _text, _swapped, _spaces)
