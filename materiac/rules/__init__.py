"""The rules of `check`, spelled out, and how they look at a file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from materiac.diagnostic import Finding, Severity
from materiac.rules import (
    acyclic_loop,
    broken_property,
    case_clash,
    dead_edge,
    duplicate_key,
    empty_list_skips,
    encoding,
    exit_conflict,
    foreign_advance,
    foreign_exit,
    generator_output,
    generator_parse,
    idle_foreach,
    idle_loop,
    import_clash,
    import_cycle,
    import_missing,
    import_outside,
    invalid_limit,
    invalid_name,
    invalid_path,
    invalid_suppression,
    invalid_value,
    legacy_form,
    loop_source,
    maybe_unassigned,
    missing_entry,
    missing_route,
    missing_timeout,
    never_ends,
    obsolete_field,
    parallel_generator,
    parallel_interactive,
    parallel_path,
    parallel_unsafe,
    parallel_write,
    repeated_exit,
    repeated_guard,
    reserved_key,
    secret_literal,
    shared_socket,
    shell_string,
    small_budget,
    stall_guard,
    syntax,
    unasked_text,
    unbounded_loop,
    undefined_state,
    unkept_scope,
    unknown_agent,
    unknown_key,
    unknown_loadout,
    unknown_materia,
    unknown_target,
    unknown_tool,
    unknown_utility,
    unreachable_loop,
    unreachable_socket,
    unread_verdict,
    unused_assign,
    unused_suppression,
    utility_source,
    verdict_in_prompt,
)
from materiac.rules.rule import FileView, LoadoutView, Rule, Stage

if TYPE_CHECKING:
    from materiac.graph import LoadoutGraph

RULES: tuple[Rule, ...] = (
    syntax.RULE,
    encoding.RULE,
    duplicate_key.RULE,
    import_missing.RULE,
    import_outside.RULE,
    import_cycle.RULE,
    import_clash.RULE,
    unknown_key.RULE,
    invalid_value.RULE,
    invalid_name.RULE,
    legacy_form.RULE,
    invalid_limit.RULE,
    shell_string.RULE,
    missing_entry.RULE,
    unknown_target.RULE,
    unknown_materia.RULE,
    unknown_loadout.RULE,
    unknown_utility.RULE,
    unknown_tool.RULE,
    unknown_agent.RULE,
    unkept_scope.RULE,
    case_clash.RULE,
    dead_edge.RULE,
    repeated_guard.RULE,
    unread_verdict.RULE,
    missing_route.RULE,
    unreachable_socket.RULE,
    never_ends.RULE,
    unbounded_loop.RULE,
    stall_guard.RULE,
    small_budget.RULE,
    acyclic_loop.RULE,
    unreachable_loop.RULE,
    foreign_exit.RULE,
    repeated_exit.RULE,
    exit_conflict.RULE,
    foreign_advance.RULE,
    loop_source.RULE,
    shared_socket.RULE,
    idle_loop.RULE,
    empty_list_skips.RULE,
    idle_foreach.RULE,
    generator_parse.RULE,
    generator_output.RULE,
    obsolete_field.RULE,
    unasked_text.RULE,
    verdict_in_prompt.RULE,
    parallel_generator.RULE,
    parallel_path.RULE,
    parallel_unsafe.RULE,
    parallel_interactive.RULE,
    parallel_write.RULE,
    undefined_state.RULE,
    maybe_unassigned.RULE,
    unused_assign.RULE,
    reserved_key.RULE,
    invalid_path.RULE,
    utility_source.RULE,
    broken_property.RULE,
    secret_literal.RULE,
    missing_timeout.RULE,
    invalid_suppression.RULE,
    unused_suppression.RULE,
)
"""All rules, in the order in which a file is looked at."""


def check(file: FileView, graphs: Sequence[LoadoutGraph], broken: Collection[str]) -> list[Finding]:
    """What the rules find in a file and its loadouts.

    `broken` are the loadouts whose shape has errors: their names are looked up, and no more is asked.
    """
    found = [finding for rule in RULES if rule.check_file for finding in rule.check_file(file)]
    for graph in graphs:
        view = LoadoutView(file, graph, graphs)
        named = list(_of_stage(Stage.NAMES, view))
        found += named
        if graph.name not in broken and not any(map(_hides_meaning, named)):
            found += _of_stage(Stage.MEANING, view)
    return found


def _of_stage(stage: Stage, view: LoadoutView) -> Iterator[Finding]:
    for rule in RULES:
        if rule.stage is stage and rule.check is not None:
            yield from rule.check(view)


def _hides_meaning(finding: Finding) -> bool:
    """Whether a loadout with such a finding cannot be understood; routes are whole without a materia."""
    return finding.severity is Severity.ERROR and finding.rule != unknown_materia.RULE.name
