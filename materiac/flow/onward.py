"""Where what a cast knows goes to: along its routes, but not out of streams, whose state ends with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from materiac.flow.ground import Ground
from materiac.names import END


class Onward:
    """The steps of a ground as what is known takes them; `stream` has the generators of what streams run."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        regions = ground.regions.values()
        self.stream = {id_: region.generator.id for region in regions for id_ in region.members}

    def after(self, node: str) -> Iterator[tuple[str, bool]]:
        """What comes after a node, and whether the streams of the node are done then."""
        stream = self.stream.get(node)
        for route in self._ground.routes[node]:
            if route.target != END and stream in (None, self.stream.get(route.target)):
                yield route.target, route.kind == "jump"
        yield from ((target, True) for target in self._behind.get(node, ()))

    @cached_property
    def _behind(self) -> Mapping[str, tuple[str, ...]]:
        """For each generator of streams, where a cast goes on when they are done."""
        found: dict[str, dict[str, None]] = {}
        for node, stream in self.stream.items():
            targets = (target for target in self._targets(node) if self.stream.get(target) != stream)
            found.setdefault(stream, {}).update(dict.fromkeys(targets))
        return {stream: tuple(targets) for stream, targets in found.items()}

    def _targets(self, node: str) -> Iterator[str]:
        return (route.target for route in self._ground.routes[node] if route.target != END)

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The nodes in reach, numbered so that a step leads to a greater number, unless it closes a cycle."""
        found: list[str] = []
        seen = set(self._ground.graph.starts)
        walk = [(node, self._targets(node)) for node in self._ground.graph.starts]
        while walk:
            node, targets = walk[-1]
            following = next((target for target in targets if target not in seen), None)
            if following is None:
                found.append(node)
                walk.pop()
            else:
                seen.add(following)
                walk.append((following, self._targets(following)))
        return {node: place for place, node in enumerate(reversed(found))}
