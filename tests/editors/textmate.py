"""A TextMate grammar at work: enough of it to say which scopes each character of a text has.

Oniguruma reads the expressions in an editor; those that `re` reads too mean the same in both.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Rule = dict[str, Any]


@dataclass(frozen=True)
class _Open:
    """A rule between its begin and its end, and the scopes within."""

    rule: Rule
    scopes: tuple[str, ...]


@dataclass
class Grammar:
    """A grammar whose expressions are compiled as they are needed."""

    data: Rule
    _compiled: dict[str, re.Pattern[str]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> Grammar:
        return cls(json.loads(file.read_text(encoding="utf-8")))

    def expressions(self) -> Iterator[str]:
        """Every regular expression in the grammar."""
        waiting: list[Any] = [self.data]
        while waiting:
            part = waiting.pop()
            yield from (
                part[key] for key in ("match", "begin", "end") if isinstance(part, dict) and key in part
            )
            waiting += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()

    def scopes(self, text: str) -> Iterator[tuple[str, frozenset[str]]]:
        """Each character with the scopes that it has, without those that only enclose it."""
        stack = [_Open(self.data, ())]
        for line in text.splitlines(keepends=True):
            marked = [frozenset[str]()] * len(line)
            self._line(line, stack, marked)
            yield from zip(line, marked, strict=True)

    def _line(self, line: str, stack: list[_Open], marked: list[frozenset[str]]) -> None:
        at = 0
        while at <= len(line):
            top = stack[-1]
            found = self._next(line, at, top)
            self._mark(marked, at, found[0].start() if found else len(line), top.scopes)
            if found is None:
                return
            match, rule, ends = found
            scopes = top.scopes if ends else (*top.scopes, *filter(None, [rule.get("name")]))
            self._mark(marked, match.start(), match.end(), scopes)
            if not ends:
                self._captures(match, rule, marked, scopes)
            if ends:
                stack.pop()
            elif "begin" in rule:
                stack.append(_Open(rule, scopes))
            at = match.end() + (match.end() == match.start() and not ends and "begin" not in rule)

    def _next(self, line: str, at: int, top: _Open) -> tuple[re.Match[str], Rule, bool] | None:
        """The match that begins first; of several, the one whose rule is first, and the end before all."""
        best: tuple[re.Match[str], Rule, bool] | None = None
        ending = [(top.rule["end"], top.rule, True)] if "end" in top.rule else []
        inner = ((r.get("match") or r["begin"], r, False) for r in self._flat(top.rule))
        for expression, rule, ends in [*ending, *inner]:
            match = self._pattern(expression).search(line, at)
            if match and (best is None or match.start() < best[0].start()):
                best = match, rule, ends
        return best

    def _flat(self, rule: Rule) -> Iterator[Rule]:
        for named in rule.get("patterns", ()):
            part = self.data["repository"][named["include"][1:]] if "include" in named else named
            if "match" in part or "begin" in part:
                yield part
            else:
                yield from self._flat(part)

    def _pattern(self, expression: str) -> re.Pattern[str]:
        if expression not in self._compiled:
            self._compiled[expression] = re.compile(expression, re.MULTILINE)
        return self._compiled[expression]

    def _captures(
        self, match: re.Match[str], rule: Rule, marked: list[frozenset[str]], scopes: tuple[str, ...]
    ) -> None:
        for number, capture in (rule.get("captures") or rule.get("beginCaptures") or {}).items():
            start, end = match.span(int(number))
            if "name" in capture and start >= 0:
                self._mark(marked, start, end, (*scopes, capture["name"]))
            elif start >= 0:
                inner = match[int(number)]
                for i, found in enumerate(self._inside(inner, capture)):
                    self._mark(marked, start + i, start + i + 1, (*scopes, *found))

    def _inside(self, text: str, capture: Rule) -> list[frozenset[str]]:
        marked = [frozenset[str]()] * len(text)
        self._line(text, [_Open(capture, ())], marked)
        return marked

    def _mark(self, marked: list[frozenset[str]], start: int, end: int, scopes: tuple[str, ...]) -> None:
        marked[start:end] = [frozenset(scopes)] * (min(end, len(marked)) - start)
