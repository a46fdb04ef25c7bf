"""Flows that agents have told of lately. A report has those of the pods that were looked at since the one before."""

from collections.abc import Iterable, Sequence
from itertools import islice

from nemutator_common.wire_activity import Flow

KEPT_S = 3 * 3_600.0
"""A flow that was not told of again for so long is not shown. Agents look at one pod after another, a minute at each: of a
full node with 110 pods each has its turn in two hours."""

MOST_OF_NODE = 2_000
"""16 peers of 110 pods are fewer."""

MOST = 200_000
"""Of all nodes: about 70 MB."""

_Key = tuple[str, str, int, str, str]


class KeptFlows:
    def __init__(self, *, most: int = MOST, most_of_node: int = MOST_OF_NODE) -> None:
        self._most = most
        self._most_of_node = most_of_node
        self._nodes: dict[str, dict[_Key, tuple[float, Flow]]] = {}
        """When each was told of, by the brain's clock; the node heard of last at the end."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def take(self, node: str, flows: Iterable[Flow], *, now: float) -> None:
        """Keep *flows* of *node* in the place of what was told of the same pods; what was told longest ago makes room."""
        before, flows = self._nodes.pop(node, {}), tuple(flows)
        self._count -= len(before)
        told = {flow.pod_uid for flow in flows}
        kept = {
            key: one
            for key, one in before.items()
            if one[0] >= now - KEPT_S and one[1].pod_uid not in told
        }
        for flow in flows:
            key = flow.pod_uid, flow.address, flow.port, flow.protocol, flow.direction
            kept[key] = now, flow
        # One by one the first would be looked for among all that are gone.
        for oldest in list(islice(kept, max(0, len(kept) - self._most_of_node))):
            del kept[oldest]
        self._nodes[node] = kept
        self._count += len(kept)
        while self._count > self._most and len(self._nodes) > 1:
            self._count -= len(self._nodes.pop(next(iter(self._nodes))))

    def has_any(self, *, now: float) -> bool:
        """Whether anything was told of lately."""
        return any(at >= now - KEPT_S for kept in self._nodes.values() for at, _ in kept.values())

    def all(self, *, now: float) -> list[tuple[str, Sequence[Flow]]]:
        """By node, what was told of lately."""
        return [
            (node, [flow for at, flow in kept.values() if at >= now - KEPT_S])
            for node, kept in self._nodes.items()
        ]
