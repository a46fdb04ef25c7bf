"""The cluster as informers see it: pods, and who owns them."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from nemutator_common.names import AGEING, ENVIRONMENT_PREFIX, ON_ROTATE
from nemutator_common.process import Process

from nemutator_controller.cluster.pods import (
    CONTROLLER,
    GRADED,
    NAMESPACE,
    UNMANAGED,
    ClusterSnapshot,
    NoRunningPods,
    PodLookup,
    RunningPod,
    by_ageing,
    by_controller,
    by_environment,
    by_grade,
    by_namespace,
    by_no_controller,
    by_on_rotate,
    by_uid,
)
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.objects import Object, Pod
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.resources import JOBS, PODS, REPLICA_SETS
from nemutator_controller.kube.workload_objects import WatchedWorkload

SNAPSHOT_S = 1.0
"""How old a snapshot may be: many ask at once, and each new one costs the informers a copy."""

PART = "cluster"


@dataclass(frozen=True, slots=True)
class _Taken:
    snapshot: ClusterSnapshot
    at: float


class ClusterWatch:
    """A `PodLookup`. Before the first complete snapshot it finds nothing."""

    def __init__(
        self,
        transport: Transport,
        process: Process,
    ) -> None:
        self._process = process
        self._taken: _Taken | None = None
        self.pods: Informer[Pod] = Informer(
            PODS,
            transport=transport,
            process=process,
            indexes={
                "uid": by_uid,
                NAMESPACE: by_namespace,
                CONTROLLER: by_controller,
                UNMANAGED: by_no_controller,
                ON_ROTATE: by_on_rotate,
                AGEING: by_ageing,
                GRADED: by_grade,
                ENVIRONMENT_PREFIX: by_environment,
            },
        )
        self.replica_sets: Informer[Object] = Informer(
            REPLICA_SETS,
            transport=transport,
            process=process,
            indexes={CONTROLLER: by_controller},
        )
        self.jobs: Informer[WatchedWorkload] = Informer(JOBS, transport=transport, process=process)
        process.readiness.fail(PART, "the cluster's pods are not listed yet")

    def tasks(self) -> dict[str, Callable[[], Coroutine[Any, Any, None]]]:
        """The tasks that keep it up to date, by name."""
        return {
            "watch pods": self.pods.run,
            "watch replica sets": self.replica_sets.run,
            "watch jobs": self.jobs.run,
            "first snapshot": self._become_ready,
        }

    def of(self, node: str, pod_uid: str | None, container_id: str | None) -> RunningPod | None:
        snapshot = self.snapshot()
        return None if snapshot is None else snapshot.of(node, pod_uid, container_id)

    def namespace_of(self, node: str, pod_uid: str) -> str | None:
        snapshot = self.snapshot()
        return None if snapshot is None else snapshot.namespace_of(node, pod_uid)

    def now(self) -> PodLookup:
        """What is known now, for a thread."""
        return self.snapshot() or NoRunningPods()

    def holding(self, namespace: str) -> frozenset[str] | None:
        """The nodes that hold pods of *namespace*; None when none are known."""
        snapshot = self.snapshot()
        return None if snapshot is None else snapshot.holding(namespace)

    def snapshot(self) -> ClusterSnapshot | None:
        """One that is at most a second old; None before there is a complete one."""
        now = self._process.clock.monotonic()
        if self._taken is None or now - self._taken.at >= SNAPSHOT_S:
            try:
                snapshot = ClusterSnapshot(
                    self.pods.snapshot(), self.replica_sets.snapshot(), self.jobs.snapshot()
                )
            except NotSyncedError:
                return None
            self._taken = _Taken(snapshot, now)
        return self._taken.snapshot

    async def _become_ready(self) -> None:
        for synced in (self.pods.synced, self.replica_sets.synced, self.jobs.synced):
            await synced()
        self._process.readiness.pass_(PART)
        # A task of a supervisor that ends would end the process.
        while True:
            await self._process.clock.sleep(3600.0)
