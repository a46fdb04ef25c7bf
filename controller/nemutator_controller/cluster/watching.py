"""The cluster as informers see it: pods, and who owns them."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from nemutator_common.process import Process

from nemutator_controller.cluster.pods import ClusterSnapshot, RunningPod, by_uid
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.objects import Object, Pod
from nemutator_controller.kube.ports import Transport
from nemutator_controller.kube.resources import JOBS, PODS, REPLICA_SETS

PICTURE_S = 1.0
"""How old a picture may be: many ask at once, and each new one costs the informers a copy."""

PART = "cluster"


@dataclass(frozen=True, slots=True)
class _Taken:
    picture: ClusterSnapshot
    at: float


class ClusterWatch:
    """A `Whose`. Before the first complete picture nothing is anybody's."""

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
            indexes={"uid": by_uid},
        )
        self.replica_sets: Informer[Object] = Informer(
            REPLICA_SETS, transport=transport, process=process
        )
        self.jobs: Informer[Object] = Informer(JOBS, transport=transport, process=process)
        process.readiness.fail(PART, "the cluster's pods are not listed yet")

    def tasks(self) -> dict[str, Callable[[], Coroutine[Any, Any, None]]]:
        """What keeps it true, by name."""
        return {
            "watch pods": self.pods.run,
            "watch replica sets": self.replica_sets.run,
            "watch jobs": self.jobs.run,
            "first picture": self._become_ready,
        }

    def of(self, node: str, pod_uid: str | None, container_id: str | None) -> RunningPod | None:
        picture = self.picture()
        return None if picture is None else picture.of(node, pod_uid, container_id)

    def picture(self) -> ClusterSnapshot | None:
        """Of at most a second ago; None before there is a complete one."""
        now = self._process.clock.monotonic()
        if self._taken is None or now - self._taken.at >= PICTURE_S:
            try:
                picture = ClusterSnapshot(
                    self.pods.snapshot(), self.replica_sets.snapshot(), self.jobs.snapshot()
                )
            except NotSyncedError:
                return None
            self._taken = _Taken(picture, now)
        return self._taken.picture

    async def _become_ready(self) -> None:
        for informer in (self.pods, self.replica_sets, self.jobs):
            await informer.synced()
        self._process.readiness.pass_(PART)
        # A task of a supervisor that ends would end the process.
        while True:
            await self._process.clock.sleep(3600.0)
