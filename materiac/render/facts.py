"""What a picture says of a cast as a whole: headings and lines."""

from __future__ import annotations

from collections.abc import Iterator

from materiac.program import Image, Json, Program
from materiac.render.lettering import visible


def facts(image: Image) -> tuple[tuple[str, str], ...]:
    """The entry, limits and properties of a program, and where its casts are kept."""
    return tuple((heading, visible(line)) for heading, line in _facts(image))


def _facts(image: Image) -> Iterator[tuple[str, str]]:
    program, budget = image.program, image.program.budget
    limits = []
    if budget.max_tokens is not None:
        limits.append(f"{budget.max_tokens:,} tokens")
    if budget.max_cost_usd is not None:
        limits.append(f"{budget.max_cost_usd:g} USD")
    if limits:
        limits.append(f"warning at {budget.warn_at_percent:g} %")
        limits.append("the cast fails there" if budget.stop_at_limit else "the cast waits there")
    yield "entry", program.entry
    yield "budget", ", ".join(limits) or "none"
    yield "limits", ", ".join(_limits(program))
    yield "artifacts", image.settings.artifact_dir
    for rule in program.properties:
        yield "property", _sentence(rule)


def _limits(program: Program) -> Iterator[str]:
    yield f"at most {program.max_no_advance_cycles} cycles without advance"
    if any(materia.parallel for materia in program.materia.values()):
        yield f"at most {program.max_concurrency} streams at a time"


def _sentence(rule: Json) -> str:
    return ", ".join(
        f"{key} {' – '.join(map(str, value)) if isinstance(value, list) else value}"
        for key, value in rule.items()
    )
