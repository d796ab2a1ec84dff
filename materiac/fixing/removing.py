"""Ways to take a member or an entry out of a text: with one comma, or with the line left empty."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from materiac.fixing.pieces import TextEdit
from materiac.fixing.written import Around, around, extent
from materiac.source import Document, Pointer, Span

_BLANK = " \t"
_DIRECTIVE: Final = re.compile(r"[ \t]*#[ \t]*materiac:")


def ways(document: Document, at: Pointer) -> Iterator[list[TextEdit]]:
    """Edits that may take away what is at a pointer."""
    here = extent(document, at)
    if here is None:
        return
    text = around(document)
    for edits in (*_between_commas(text, here), *_alone(text, here)):
        if all(_keeps_comments(text, here, edit) for edit in edits):
            yield edits
    if document.source.language == "dsl":
        yield from ([edit] for edit in _statements(text, here))


def _keeps_comments(text: Around, here: Span, edit: TextEdit) -> bool:
    """Whether an edit takes no comments away, but those within what it is about."""
    start, end, _ = edit
    parts = (slice(start, min(here.start, end)), slice(max(here.end, start), end))
    return all(text.text[part] == text.bare[part] for part in parts)


def _between_commas(text: Around, here: Span) -> Iterator[list[TextEdit]]:
    """An entry with the comma behind it, else with the one before it."""
    before, behind = text.skipped_back(here.start), text.skipped(here.end)
    if text.bare[behind : behind + 1] == ",":
        next_ = text.skipped(behind + 1)
        if not text.has_break(before, here.start) and text.has_break(behind + 1, next_):
            yield [(before, behind + 1, "")]
        yield [(here.start, next_, "")]
        yield [(here.start, here.end, ""), (behind, behind + 1, "")]
    elif text.bare[before - 1 : before] == ",":
        yield [(text.skipped_back(before - 1), here.end, "")]
        yield [(before - 1, before, ""), (here.start, here.end, "")]


def _alone(text: Around, here: Span) -> Iterator[list[TextEdit]]:
    """An entry that nothing stands beside within its brackets."""
    before, behind = text.skipped_back(here.start), text.skipped(here.end)
    if text.bare[before - 1 : before] + text.bare[behind : behind + 1] in ("[]", "()", "{}"):
        yield [(before, behind, "")]
        yield [(here.start, here.end, "")]


def _statements(text: Around, here: Span) -> Iterator[TextEdit]:
    """A statement, with the directives that count for it alone; which these are is told by trying."""
    line_end = text.line_end(here.end)
    first, behind = _directives_above(text, here.start), here.end
    if _DIRECTIVE.match(text.text, behind):
        behind = line_end
    if (first, behind) != here:
        yield _tidied(text, first, behind)
    yield _tidied(text, here.start, here.end)
    yield _tidied(text, here.start, line_end)
    start = here.start
    while (above := _comment_above(text, start)) is not None:
        start = above
        yield _tidied(text, start, here.end)
        yield _tidied(text, start, line_end)


def _directives_above(text: Around, start: int) -> int:
    """Where the directives begin that stand in the lines straight above."""
    above = _comment_above(text, start)
    while above is not None and _DIRECTIVE.match(text.text, above):
        start, above = above, _comment_above(text, above)
    return start


def _comment_above(text: Around, start: int) -> int | None:
    """Where the comment begins that is all that there is in the line above."""
    line = text.line_start(start)
    if line == 0 or not text.begins_line(start):
        return None
    above = text.line_start(line - len(text.line_break))
    comment = text.text[above:line].strip()
    return text.text.index(comment, above) if comment.startswith("#") else None


def _tidied(text: Around, start: int, end: int) -> TextEdit:
    """A range to take away, with the spaces or the line that would be left over."""
    line, line_end = text.line_start(start), text.line_end(end)
    begins, ends = text.begins_line(start), not text.text[end:line_end].strip(_BLANK)
    if begins and ends:
        return (*_lines(text, line, text.break_end(line_end)), "")
    if begins:
        return start, end + len(text.text[end:]) - len(text.text[end:].lstrip(_BLANK)), ""
    return len(text.text[:start].rstrip(_BLANK)), end, ""


def _lines(text: Around, start: int, end: int) -> tuple[int, int]:
    """Whole lines, with the empty one above them, where another one or nothing follows."""
    follows = text.text[end : text.line_end(end)].strip(_BLANK)
    above = text.line_start(start - len(text.line_break)) if start else 0
    return (above if not follows and not text.text[above:start].strip() else start), end
