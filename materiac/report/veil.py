"""Hides the secrets of texts in what is shown of them: those that were found, and all that look like one."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterable, Iterator
from typing import Final

from materiac.diagnostic import Bilingual, Located
from materiac.secret_shapes import RULE, literals, masked, unescaped, veiled
from materiac.source import Source, Span

_SHORTEST: Final = 8
"""A start of a secret that is as long as this is one too: messages cut what they quote."""

_HIDDEN: Final = re.compile(r"[^\s\"']+")


class Veil:
    """What is known of the secrets in some texts, by what was found in them."""

    def __init__(self, findings: Iterable[Located]) -> None:
        self._places: dict[Source, list[Span]] = {}
        self._texts: dict[Source, Source] = {}
        for located in findings:
            if located.finding.rule == RULE and located.place is not None:
                self._places.setdefault(located.place.source, []).append(located.place.span)
        secrets = {part for source in self._places for part in self._quoted(source)}
        self._secrets = sorted(secret for secret in secrets if len(secret) >= _SHORTEST)
        self._starts = {secret[:_SHORTEST] for secret in self._secrets}
        self._longest = max(map(len, self._secrets), default=0)

    def over(self, source: Source) -> Source:
        """A text of the same lines and the same offsets in which no secret can be read."""
        if source not in self._texts:
            text = masked(self.words(source.text), self._wholes(source))
            self._texts[source] = Source(source.name, text, source.language)
        return self._texts[source]

    def words(self, text: str) -> str:
        """Words of the same length without the secrets that they quote, or the starts of such."""
        return masked(veiled(text), self._known(text))

    def _wholes(self, source: Source) -> Iterator[tuple[int, int]]:
        """What a name far off says is a secret, and nothing in itself: then it is one as a whole."""
        for start, end in self._places.get(source, ()):
            part = source.text[start:end]
            if veiled(part) == part:
                yield from (run.span() for run in _HIDDEN.finditer(source.text, start, end))

    def _known(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a text has secrets that were found."""
        for at in range(len(text) - _SHORTEST + 1) if self._starts else ():
            if text[at : at + _SHORTEST] in self._starts:
                part = text[at : at + self._longest]
                # Of secrets in order, one beside the part has the longest start in common with it.
                index = bisect.bisect(self._secrets, part)
                beside = self._secrets[max(0, index - 1) : index + 1]
                yield at, at + max(_in_common(secret, part) for secret in beside)

    def finding(self, located: Located) -> Located:
        """A finding whose words quote no secret; its places are as they were."""
        finding = located.finding
        advice = finding.help
        if isinstance(advice, Bilingual):
            advice = Bilingual(self.words(advice.json), self.words(advice.dsl))
        elif advice is not None:
            advice = self.words(advice)
        fix = finding.fix and finding.fix._replace(title=self.words(finding.fix.title))
        shown = finding._replace(message=self.words(finding.message), help=advice, fix=fix)
        related = tuple((place, self.words(words)) for place, words in located.related)
        return located._replace(finding=shown, related=related)

    def _quoted(self, source: Source) -> Iterable[str]:
        """The secrets that were found in a text, as they are written there, and as they are meant."""
        for start, end in self._places[source]:
            text = source.text[start:end]
            told = [text[found.hidden : found.end] for found in literals(text)]
            for secret in told or [text.strip("\"' \r\n\t")]:
                yield from {secret, unescaped(secret)}


def _in_common(one: str, other: str) -> int:
    """How many characters two texts begin with that are the same."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
