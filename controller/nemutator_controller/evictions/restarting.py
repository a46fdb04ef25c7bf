"""Evicts pods of `nemutator.io/on-rotate: restart` when a secret that they have read has changed.

What is to be done follows from what is there: a pod with a record of a rotation is evicted, and the one
that takes its place has another uid and no such record. So a brain that starts again forgets nothing and
does nothing twice.
"""

import logging
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.evictions.candidates import candidates
from nemutator_controller.evictions.ports import PodEvictions, RestartablePods, Rotations
from nemutator_controller.evictions.records import (
    EvictablePod,
    NotAllowedNowError,
    NotEvictedError,
    OwningWorkload,
    PodGoneError,
)

log = logging.getLogger(__name__)

CHECK_S = 10.0

APART_S = 30.0
"""Between two evictions of one workload, and until one that was not allowed is tried again: for so long the
new pod may not be seen yet."""

EVICTED = f"{names.ON_ROTATE}: its secrets have changed, and the next pod starts with the new ones"
UNOWNED = (
    f"{names.ON_ROTATE}: its secrets have changed; it is not evicted, because nobody would make another one: "
    "let a Deployment, a StatefulSet or a DaemonSet own it"
)


@dataclass(slots=True)
class RotationRestarts:
    pods: RestartablePods
    rotations: Rotations
    evictions: PodEvictions
    process: Process
    _: KW_ONLY
    per_minute: float
    """Evictions of all workloads together."""
    _room: float = field(default=0.0, init=False)
    _not_before: dict[OwningWorkload, float] = field(default_factory=dict, init=False)
    _notified: set[str] = field(default_factory=set, init=False)
    """Uids of pods whose owners were told why they go on."""

    async def run(self) -> None:
        self._room = self.per_minute
        while True:
            await self.process.clock.sleep(CHECK_S)
            self._room = min(self._room + self.per_minute * CHECK_S / 60, max(self.per_minute, 1.0))
            await self._check()

    async def _check(self) -> None:
        pods = self.pods.now()
        self._forget(pods)
        if not pods:
            return
        try:
            rotated = set(await self.rotations.rotated({pod.uid for pod in pods}))
        except StoreUnavailableError as failure:
            log.warning("rotations_unknown", {names.ERROR: str(failure)})
            return
        # A node speaks for its own pods only.
        outdated = {pod for pod in pods if (pod.node, pod.uid) in rotated}
        for pod in outdated:
            if pod.workload is None:
                self._notify_once(pod, UNOWNED, result="unowned")
        for pod in candidates(pods, outdated):
            await self._consider(pod)

    async def _consider(self, pod: EvictablePod) -> None:
        now = self.process.clock.monotonic()
        workload = pod.workload
        if workload is None or self._not_before.get(workload, now) > now or self._room < 1.0:
            return
        self._not_before[workload] = now + APART_S
        try:
            await self.evictions.evict(pod)
        except PodGoneError:
            return
        except NotAllowedNowError as error:
            self._notify_once(pod, f"{names.ON_ROTATE}: waits: {error}", result="not_allowed")
        except NotEvictedError as error:
            self._count("failed")
            log.warning("pod_not_evicted", {names.OBJECT: _name(pod), names.ERROR: str(error)})
        else:
            self._room -= 1.0
            self._count("evicted")
            log.info("pod_evicted", {names.OBJECT: _name(pod), names.REASON: "rotation"})
            self.evictions.notify(pod, EVICTED)

    def _notify_once(self, pod: EvictablePod, note: str, *, result: str) -> None:
        if pod.uid not in self._notified:
            self._notified.add(pod.uid)
            self._count(result)
            self.evictions.notify(pod, note, warning=True)

    def _count(self, result: str) -> None:
        self.process.meter.count(names.ROTATION_RESTARTS, result=result)

    def _forget(self, pods: Sequence[EvictablePod]) -> None:
        """What is gone."""
        self._notified.intersection_update(pod.uid for pod in pods)
        workloads = {pod.workload for pod in pods}
        self._not_before = {
            workload: until for workload, until in self._not_before.items() if workload in workloads
        }


def _name(pod: EvictablePod) -> str:
    return f"{pod.namespace}/{pod.name}"
