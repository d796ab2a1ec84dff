"""The pages of the documentation as the tests read them: fenced blocks, headings, links.

What the words behind a fence ask for is told in CONTRIBUTING.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
NAMES: Final = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/index.md",
    "docs/tutorial.md",
    "docs/language.md",
    "docs/dsl.md",
    "docs/architecture.md",
    "docs/commands.md",
    "docs/ci.md",
    "docs/fixing.md",
    "docs/properties.md",
    "docs/bounds.md",
    "docs/diff.md",
    "docs/certificates.md",
    "docs/running.md",
    "docs/resuming.md",
    "docs/looking.md",
    "docs/agents.md",
    "docs/editors.md",
    "docs/eventing.md",
    "docs/tracing.md",
    "docs/security.md",
    "docs/exports.md",
    "docs/linking.md",
    "docs/scenarios.md",
)
"""The pages whose examples are told apart by their fences."""

_FENCED: Final = re.compile(r"^```(\S*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_HEADING: Final = re.compile(r"^#{1,6} +(.*?) *$", re.MULTILINE)
_LINK: Final = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CODE: Final = re.compile(r"`[^`\n]*`")


@dataclass(frozen=True)
class Block:
    """A fenced block: the line that opens it, with its language, words and options; the text."""

    opening: str
    language: str
    words: frozenset[str]
    options: Mapping[str, str]
    text: str = field(repr=False)
    line: int

    def is_json(self, kind: str) -> bool:
        return self.language == "json" and kind in self.words


@dataclass(frozen=True)
class Page:
    """A page, named by its path in the repository."""

    name: str
    text: str = field(repr=False)

    @property
    def path(self) -> Path:
        return ROOT / self.name

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(map(self._block, _FENCED.finditer(self.text)))

    @cached_property
    def prose(self) -> str:
        """The page without its fenced blocks."""
        return _FENCED.sub("", self.text)

    @property
    def anchors(self) -> frozenset[str]:
        """What a link to a heading of this page may have behind its `#`."""
        return frozenset(_slugs(_HEADING.findall(self.prose)))

    @property
    def links(self) -> list[str]:
        return _LINK.findall(_CODE.sub("``", self.prose))

    def _block(self, match: re.Match[str]) -> Block:
        parts = match[2].split()
        options = dict(part.split("=", 1) for part in parts if "=" in part)
        words = frozenset(part for part in parts if "=" not in part)
        line = self.text.count("\n", 0, match.start()) + 2
        return Block(f"```{match[1]}{match[2]}", match[1], words, options, match[3], line)

    def bless(self, block: Block, text: str) -> None:
        """Put another text into a block of the page, on the disk."""
        now = self.path.read_text(encoding="utf-8")
        old, new = (f"{block.opening}\n{part}```\n" for part in (block.text, text))
        self.path.write_text(now.replace(old, new, 1), encoding="utf-8")


def _slugs(headings: list[str]) -> Iterator[str]:
    """Anchors as GitHub makes them of headings that do not repeat."""
    for heading in headings:
        kept = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        yield kept.replace(" ", "-")


def read(name: str) -> Page:
    return Page(name, (ROOT / name).read_text(encoding="utf-8"))


PAGES: Final = tuple(map(read, NAMES))
ALL_PAGES: Final = tuple(
    read(str(path.relative_to(ROOT))) for path in [*ROOT.glob("*.md"), *sorted(ROOT.glob("docs/**/*.md"))]
)
