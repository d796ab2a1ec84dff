"""Random loadouts that are sound, with any legal names and any prompts, and other layouts of their texts."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import Any

from documents import KEYWORDS, PROMPTS
from hypothesis import strategies as st

from materiac import dsl_text, names
from materiac.dsl_tree import Part

Json = dict[str, Any]

_LETTERS = st.one_of(st.characters(categories=["L", "M", "Nd"]), st.sampled_from("aZ0._-é漢कि"))
_SPACED = st.text(_LETTERS | st.just(" "), min_size=1, max_size=12)
_KEYWORDS = st.sampled_from([word for word in KEYWORDS if word != names.END])


def legal(*, spaces: bool) -> st.SearchStrategy[str]:
    """Any name that a socket may have, or with spaces a loadout or a materia."""
    some = (_SPACED if spaces else st.text(_LETTERS, min_size=1, max_size=12)) | _KEYWORDS
    composed = some.map(lambda name: unicodedata.normalize("NFC", name))
    return composed.filter(lambda name: names.fault(name, spaces=spaces) is None)


def _several(some: st.SearchStrategy[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(some, min_size=2, max_size=most, unique_by=str.casefold)


@st.composite
def sound_files(draw: st.DrawFn) -> Json:
    """A chain of sockets, some of which judge and send back."""
    teller, judge = draw(_several(legal(spaces=True), 2))
    ids = draw(_several(legal(spaces=False), 4))
    prompts = PROMPTS.filter(lambda prompt: bool(prompt.strip()))
    materia = {teller: {"prompt": draw(prompts)}, judge: {"prompt": draw(prompts), "parse": "json"}}
    sockets: Json = {}
    for index, id_ in enumerate(ids):
        after = ids[index + 1] if index + 1 < len(ids) else names.END
        sockets[id_] = {"materia": teller, "edges": [{"to": after}]}
        if draw(st.booleans()):
            back = {"when": "not_satisfied", "to": draw(st.sampled_from(ids)), "maxTraversals": 2}
            sockets[id_] = {"materia": judge, "edges": [{"when": "satisfied", "to": after}, back]}
    loadout = {"description": draw(PROMPTS), "entry": ids[0], "sockets": sockets}
    return {"loadouts": {draw(legal(spaces=True)): loadout}, "materia": materia}


GAPS = st.sampled_from((" ", "  ", "\t", "\n", "\n\n\n", "\r\n", "\r", " # why\n", "\n# why\r\n", "#}\r"))


@st.composite
def other_layouts(draw: st.DrawFn, text: str) -> str:
    """A text with other white space and comments wherever it has some between two words."""
    tree, _ = dsl_text.parse(text)
    assert tree is not None
    laid_out, end = "", 0
    for start, stop, kind in _words(tree):
        # The colon or equals sign that makes a word the id of a socket stands in its line.
        apart = text[end:start] and end and kind not in ("COLON", "EQUALS")
        laid_out += (draw(GAPS) if apart else text[end:start]) + text[start:stop]
        end = stop
    return laid_out


def _words(part: Part) -> Iterator[tuple[int, int, str]]:
    for child in getattr(part, "children", ()):
        yield from _words(child)
    if not hasattr(part, "children"):
        yield part.start_pos, part.end_pos, part.type
