"""The audit of secrets, put together: what the agents granted and denied, and what follows from it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from nemutator_common.audit_keys import installation_keys
from nemutator_common.secret import Secret

from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.parts import Part, StoredStream, Task, TaskPhase
from nemutator_controller.cluster.pods import NAMESPACE, PodOwner
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.evictions.restarting import RotationRestarts
from nemutator_controller.grants.endpoint import GrantsApi
from nemutator_controller.grants.ports import PodWorkloads
from nemutator_controller.grants.sql import SqlGrants


def grants_part(context: BrainContext) -> Part:
    store = SqlGrants(context.database, process=context.process)
    tasks = []
    if context.cluster:
        restarts = RotationRestarts(
            context.cluster.restartable,
            store,
            context.cluster.rotations,
            context.process,
            per_minute=context.settings.restarts_per_minute,
        )
        tasks.append(Task(TaskPhase.WORK, "restart pods", restarts.run, alone=True))
    key_file = context.settings.audit_key_file
    of_file = installation_keys(key_file) if key_file else ()

    def audit_keys() -> Sequence[Secret]:
        return of_file or (context.cluster.registrar.audit_keys if context.cluster else ())

    workloads: PodWorkloads = NoPodWorkloads()
    if context.cluster:
        workloads = WorkloadsOfPods(context.cluster.watch)
    api = GrantsApi(store, context.process, audit_keys, workloads)
    return Part(
        routes=api.routes(),
        streams={"grants": StoredStream("agent", store.record)},
        tasks=tasks,
    )


MOST_PODS = 5_000
"""Of one workload, in one question."""

SAME_BEGINNING = 40
"""Characters: names of pods begin with that of their workload, of which long ones are cut off."""


class NoPodWorkloads:
    """The `PodWorkloads` of a machine that is in no cluster."""

    def of(self, pod_uids: Collection[str]) -> Mapping[str, PodOwner]:
        return {}

    def pods(self, namespace: str, workload: PodOwner) -> Collection[str]:
        return ()


@dataclass(frozen=True, slots=True)
class WorkloadsOfPods:
    """A `PodWorkloads` of pods that run now."""

    watch: ClusterWatch

    def of(self, pod_uids: Collection[str]) -> Mapping[str, PodOwner]:
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return {}
        pods = filter(None, map(snapshot.pod, pod_uids))
        return {pod.metadata.uid: snapshot.owner(pod) for pod in pods}

    def pods(self, namespace: str, workload: PodOwner) -> Collection[str]:
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return ()
        begins = workload.name[:SAME_BEGINNING]
        found = (
            pod.metadata.uid
            for pod in snapshot.pods.by(NAMESPACE, namespace)
            if pod.metadata.name.startswith(begins) and snapshot.owner(pod) == workload
        )
        return list(islice(found, MOST_PODS))
