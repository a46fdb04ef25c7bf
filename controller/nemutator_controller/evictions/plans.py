"""Which pods a request means, and which of them are evicted: what people look at before they agree."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from nemutator_controller.evictions.records import EvictablePod
from nemutator_controller.kube.label_selectors import Selector, parse_selector

MOST_PODS = 5_000
"""In one request."""

UNOWNED = "nobody would make another one: it is owned by no workload that does"
COMES_BACK = "its DaemonSet would make another one on the same node"
ASKED_ALREADY = "an earlier request has it in its queue"


@dataclass(frozen=True, slots=True, kw_only=True)
class PodSelection:
    """Pods by their names, or all that meet every other condition."""

    pods: tuple[tuple[str, str], ...] = ()
    """Namespace and name."""
    namespace: str = ""
    selector: str = ""
    node: str = ""

    def __str__(self) -> str:
        if self.pods:
            return ", ".join("/".join(each) for each in self.pods[:3]) + (
                f" and {len(self.pods) - 3} more" if len(self.pods) > 3 else ""
            )
        words = ("namespace", self.namespace), ("selector", self.selector), ("node", self.node)
        return ", ".join(f"{word} {value}" for word, value in words if value) or "all pods"


@dataclass(frozen=True, slots=True)
class PlannedEviction:
    pod: EvictablePod
    why_not: str
    """Empty: it will be evicted."""


@dataclass(frozen=True, slots=True)
class EvictionPlan:
    evictions: tuple[PlannedEviction, ...]
    missing: tuple[str, ...]
    """Pods that were named and are not there."""
    takes_all: bool
    """Whether no pod of several workloads, which could be evicted, would be left."""

    @property
    def chosen(self) -> tuple[EvictablePod, ...]:
        return tuple(each.pod for each in self.evictions if not each.why_not)

    @property
    def id(self) -> str:
        """The same for the same pods: whoever agrees to a plan agrees to no other one."""
        uids = "\n".join(sorted(pod.uid for pod in self.chosen))
        return blake2b(uids.encode(), digest_size=8).hexdigest()


def plan(
    wanted: PodSelection, pods: Sequence[EvictablePod], *, asked_already: Collection[str] = ()
) -> EvictionPlan:
    """*asked_already*: uids of pods in the queue. Raises `SelectorError`."""
    selector = parse_selector(wanted.selector)
    found = sorted(_selected(wanted, selector, pods), key=lambda pod: (pod.namespace, pod.name))
    there = {(pod.namespace, pod.name) for pod in found}
    evictions = tuple(PlannedEviction(pod, _why_not(pod, wanted, asked_already)) for pod in found)
    taken = {each.pod.uid for each in evictions if not each.why_not}
    possible = [pod for pod in pods if pod.workload is not None]
    return EvictionPlan(
        evictions=evictions,
        missing=tuple("/".join(each) for each in wanted.pods if each not in there),
        takes_all=not wanted.pods
        and (
            wanted == PodSelection()
            or (
                len({pod.workload for pod in possible}) > 1
                and bool(taken)
                # What is in the queue already goes, too.
                and all(pod.uid in taken or pod.uid in asked_already for pod in possible)
            )
        ),
    )


def _selected(
    wanted: PodSelection, selector: Selector, pods: Sequence[EvictablePod]
) -> Iterator[EvictablePod]:
    named = set(wanted.pods)
    for pod in pods:
        if named and (pod.namespace, pod.name) not in named:
            continue
        if wanted.namespace and pod.namespace != wanted.namespace:
            continue
        if wanted.node and pod.node != wanted.node:
            continue
        if selector.matches(pod.labels):
            yield pod


def _why_not(pod: EvictablePod, wanted: PodSelection, asked_already: Collection[str]) -> str:
    if pod.workload is None:
        return UNOWNED
    if pod.uid in asked_already:
        return ASKED_ALREADY
    # Whoever wants a node empty would never be done; who names the pod means to have it made anew.
    if wanted.node and pod.workload.kind == "DaemonSet":
        return COMES_BACK
    return ""
