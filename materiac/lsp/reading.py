"""A sound text with the places of its names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from materiac import collector
from materiac.lsp.mentions import Kind, Mention, mentions
from materiac.source import Document, Span


@dataclass(frozen=True)
class Reading:
    """A document, and what it names where."""

    document: Document

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """The names in written order, those alone that stand in the text."""
        with collector.paused():
            spans = self.document.spans
            found = [mention for mention in mentions(self.document.data) if mention.at in spans]
            return tuple(sorted(found, key=lambda mention: spans[mention.at]))

    def span(self, mention: Mention) -> Span:
        return self.document.spans[mention.at]

    def at(self, offset: int) -> Mention | None:
        """The name that an offset is in, or at an end of."""
        around = (mention for mention in self.mentions if self._holds(mention, offset))
        return min(
            around, key=lambda mention: self.span(mention).end - self.span(mention).start, default=None
        )

    def _holds(self, mention: Mention, offset: int) -> bool:
        start, end = self.span(mention)
        return start <= offset <= end

    def of(self, mention: Mention) -> list[Mention]:
        """All places of what a name means."""
        return self.named(mention.kind, mention.loadout, mention.name)

    def named(self, kind: Kind, loadout: str | None, name: str) -> list[Mention]:
        wanted = (kind, loadout, name)
        return [other for other in self.mentions if (other.kind, other.loadout, other.name) == wanted]
