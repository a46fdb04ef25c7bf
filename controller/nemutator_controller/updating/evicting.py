"""Evicts pods whose resize is not possible, where a policy says so: the one that comes after it has the advised sizes
from its creation on.

What makes sure that this ends: a pod that is younger than the cool-down is not evicted, and neither is one that
nobody would make anew, or whose next one no node could take. Disruption budgets are the API server's to keep.
"""

import logging
import math
from collections.abc import Callable, Collection
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.updating.model import SoundSizing
from nemutator_controller.updating.node_room import PodNeeds
from nemutator_controller.updating.ports import PodEvictor
from nemutator_controller.updating.records import NotResizedError, SizedPod, SizedWorkload

log = logging.getLogger(__name__)

DEFERRED_S = 300.0
"""A resize that kubelet puts off for so long is taken for one that it cannot make."""

APART_S = 60.0
"""Between two evictions of one workload: the new pod may not be seen before."""

NO_NEW_PODS_OF = frozenset({"Pod", "Node", "Job", "CronJob"})
"""Of what makes no new pod for one that is evicted; of a Job it would be another attempt."""


@dataclass(slots=True)
class SizingEvictions:
    evictor: PodEvictor
    process: Process
    _: KW_ONLY
    held: Callable[[], str] = lambda: ""
    """The SeasonPolicy that holds evictions back now; empty: none does."""
    _deferred_since: dict[str, float] = field(default_factory=dict, init=False)
    """By uid."""
    _evicted_at: dict[SizedWorkload, float] = field(default_factory=dict, init=False)
    _refused: dict[str, tuple[float, str]] = field(default_factory=dict, init=False)
    """By uid: when it was tried last, and why it stays."""

    def is_put_off(self, pod: SizedPod) -> bool:
        """Whether kubelet has put its resize off for so long that nobody waits for it any more."""
        if pod.state != "Deferred":
            self._deferred_since.pop(pod.uid, None)
            return False
        now = self.process.clock.monotonic()
        return now - self._deferred_since.setdefault(pod.uid, now) >= DEFERRED_S

    def cause(self, pod: SizedPod) -> str:
        """Why its resize, which was given, is not made; empty: it may still be."""
        if pod.state in ("Infeasible", "Error"):
            return f"kubelet cannot resize it: {pod.state}"
        if self.is_put_off(pod):
            return f"kubelet has put its resize off for {DEFERRED_S:.0f} s"
        return ""

    def barred(self, pod: SizedPod, policy: SoundSizing, *, running: int, needs: PodNeeds) -> str:
        """Why it is not evicted; empty: it may be. *needs*: what the pod after it would request."""
        if policy.spec.mode != "Evict":
            return "the policy evicts none"
        if brain := self.held():
            return f"the SeasonPolicy {brain} holds evictions back"
        if pod.workload[1] in NO_NEW_PODS_OF:
            return "nobody would make another pod"
        if running < max(2, policy.spec.min_replicas):
            return f"{running} pods run: none is left while another one starts"
        if self.process.clock.now() - pod.created_at < policy.spec.cool_down_seconds:
            return "it is too young to be evicted"
        if why := self.too_soon(pod):
            return why
        if not self.evictor.has_room(needs):
            return "no node could take the pod that comes after it"
        return ""

    def too_soon(self, pod: SizedPod) -> str:
        """Why it waits for the one of its workload that was evicted last; empty: it need not."""
        last = self._evicted_at.get(pod.workload)
        if last is None or self.process.clock.monotonic() - last >= APART_S:
            return ""
        return "another pod of its workload was evicted lately"

    def refused_at(self, pod: SizedPod) -> float:
        """When its eviction was refused last; before all time where it was not."""
        return self._refused.get(pod.uid, (-math.inf, ""))[0]

    def refusal(self, pod: SizedPod) -> str:
        """Why it was not evicted when that was tried last; empty: it was not tried."""
        return self._refused.get(pod.uid, (-math.inf, ""))[1]

    async def evict(self, pod: SizedPod, policy: SoundSizing, why: str) -> tuple[str, str]:
        """Its state after that, and why."""
        try:
            await self.evictor.evict(pod)
        except NotResizedError as error:
            why = f"not evicted: {error}"
            self._refused[pod.uid] = self.process.clock.monotonic(), why
            self.process.meter.count(names.RESIZES, result="not_evicted")
            return "waits", why
        self._evicted_at[pod.workload] = self.process.clock.monotonic()
        note = f"evicted: {why}; the next pod has the advised sizes from its creation on"
        self.process.meter.count(names.RESIZES, result="evicted")
        log.info("pod_evicted", {names.OBJECT: str(pod), names.REASON: why})
        self.evictor.notify(pod, f"{note} ({policy.name})")
        return "given", note

    def forget(self, uids: Collection[str], workloads: Collection[SizedWorkload]) -> None:
        """All but these."""
        self._deferred_since = {u: at for u, at in self._deferred_since.items() if u in uids}
        self._refused = {u: told for u, told in self._refused.items() if u in uids}
        self._evicted_at = {w: at for w, at in self._evicted_at.items() if w in workloads}
