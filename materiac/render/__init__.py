"""Pictures of a compiled loadout: one diagram, several formats of it."""

from __future__ import annotations

from typing import Final

from materiac.program import Image
from materiac.render import diagram, dot, draw, mermaid, text
from materiac.render.against import Before, against
from materiac.render.covered import Covered
from materiac.render.overview import overview as seen_from_afar

FORMATS: Final = (*draw.DRAWINGS, "dot", "mermaid", "text")

_WRITERS: Final = {"dot": dot.render, "mermaid": mermaid.render, "text": text.render}


def render(
    image: Image,
    format: str,  # noqa: A002 (the word of the command line)
    *,
    overview: bool = False,
    seen: Covered | None = None,
    before: Before | None = None,
    timeout_s: float = 60,
) -> bytes:
    """The picture of a program in one of `FORMATS`; raises `draw.DrawError` where it cannot be drawn.

    An overview folds loops and groups. With `seen`, what no test came to is marked; with what was there
    `before`, all that changed. The time limit is for the layout of drawings alone.
    """
    picture = diagram.make(image, seen)
    if before is not None:
        picture = against(picture, diagram.make(before.image), before.changed)
    if overview:
        picture = seen_from_afar(picture)
    if format in _WRITERS:
        return _WRITERS[format](picture).encode()
    return draw.draw(dot.render(picture), format, timeout_s=timeout_s)
