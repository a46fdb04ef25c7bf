"""Pods of a moment with what they request and use: six columns, of which an object is made when somebody wants it.

150 000 objects of three parts each would have to be freed when the next ones are counted, at once, which holds up
whoever lets them go for a tenth of a second.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

import msgspec

from nemutator_controller.cluster.pods import PodOwner
from nemutator_controller.inventory.current_use import CPU_CORES, LastUse, NodeUse
from nemutator_controller.inventory.pod_demands import PodDemand
from nemutator_controller.kube.objects import Pod


class PodUse(msgspec.Struct, frozen=True, gc=False):
    """What the containers of a pod used last. It says where that stands."""

    node: NodeUse
    by_status: tuple[int | None, ...]
    """The number of the series of each container status, those of init containers after the others; None where
    the node has not reported it."""
    ended: tuple[int, ...]
    """Of containers that the pod has no status of any more."""

    def by_statuses(self) -> list[LastUse | None]:
        return [None if each is None else self.node.last(each) for each in self.by_status]

    def all(self) -> list[LastUse]:
        return [self.node.last(each) for each in self._numbers()]

    def cpu_cores(self) -> float | None:
        """Of all together; None: not known of any."""
        known = [
            cores
            for each in self._numbers()
            if not math.isnan(cores := float(self.node.columns[CPU_CORES, each]))
        ]
        return sum(known) if known else None

    def _numbers(self) -> list[int]:
        return [each for each in (*self.by_status, *self.ended) if each is not None]


class CountedPod(msgspec.Struct, frozen=True, gc=False):
    """A pod that has not ended."""

    pod: Pod
    owner: PodOwner
    demand: PodDemand
    use: PodUse | None
    """None: its node has reported none of its containers."""

    @property
    def workload(self) -> tuple[str, str, str]:
        """Its namespace, kind and name."""
        return self.pod.metadata.namespace, self.owner.kind, self.owner.name


Numbers = tuple[int | None, ...]


class CountedPods(Sequence[CountedPod]):
    """Nothing of it is changed once it is made."""

    __slots__ = ("by_status", "demands", "ended", "nodes", "owners", "pods")

    def __init__(
        self,
        pods: Sequence[Pod],
        owners: Sequence[PodOwner],
        demands: Sequence[PodDemand],
        nodes: Sequence[NodeUse | None],
        by_status: Sequence[Numbers],
        ended: Sequence[tuple[int, ...]],
    ) -> None:
        self.pods = pods
        self.owners = owners
        self.demands = demands
        self.nodes = nodes
        """Each one's node, where that has reported something of it."""
        self.by_status = by_status
        self.ended = ended

    def __len__(self) -> int:
        return len(self.pods)

    @overload
    def __getitem__(self, at: int) -> CountedPod: ...
    @overload
    def __getitem__(self, at: slice) -> "CountedPods": ...
    def __getitem__(self, at: int | slice) -> "CountedPod | CountedPods":
        if isinstance(at, slice):
            return CountedPods(*(column[at] for column in self._columns()))
        return self._made(*(column[at] for column in self._columns()))

    def __iter__(self) -> Iterator[CountedPod]:
        return map(self._made, *self._columns())

    def of(self, numbers: Iterable[int]) -> "CountedPods":
        """Those with these *numbers*."""
        chosen = tuple(numbers)
        return CountedPods(*(tuple(map(column.__getitem__, chosen)) for column in self._columns()))

    def _columns(self) -> tuple[Sequence[Any], ...]:
        return self.pods, self.owners, self.demands, self.nodes, self.by_status, self.ended

    @staticmethod
    def _made(
        pod: Pod,
        owner: PodOwner,
        demand: PodDemand,
        node: NodeUse | None,
        by_status: Numbers,
        ended: tuple[int, ...],
    ) -> CountedPod:
        use = None if node is None else PodUse(node, by_status, ended)
        return CountedPod(pod, owner, demand, use)


NO_PODS = CountedPods((), (), (), (), (), ())
