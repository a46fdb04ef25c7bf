"""Writing a whole fleet: namespaces, nodes with their leases, workloads, pods that run.

What is there already is left as it is, so a fleet that was begun is completed by doing it again.
"""

from collections.abc import Iterable
from typing import Any

from nemutator_common.clocks import Clock
from nemutator_controller.kube import calls
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import AlreadyExistsError
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import (
    DEPLOYMENTS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    Resource,
)

from tests.hollow import nodes, pods, workloads, writes
from tests.hollow.nodes import LEASE_NAMESPACE, LEASES, NODES
from tests.hollow.plan import Life, Plan, Workload
from tests.hollow.sending import Sender
from tests.hollow.writes import Json

SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount", Object)


class Populating:
    """Each step may be done alone, in this order."""

    def __init__(self, plan: Plan, sender: Sender, clock: Clock) -> None:
        self._plan = plan
        self._sender = sender
        self._clock = clock
        self.owners: dict[int, str] = {}
        """The uid of each workload's ReplicaSet, by the workload's number."""

    async def all(self) -> None:
        await self.namespaces()
        await self.nodes(range(self._plan.nodes))
        await self.workloads()
        await self.pods(self._plan.lives())

    async def namespaces(self) -> None:
        await self._sender.each(self._plan.namespace_names, self._namespace)

    async def nodes(self, numbers: Iterable[int]) -> None:
        await self._sender.each(numbers, self._node)

    async def workloads(self) -> None:
        await self._sender.each(self._plan.workloads, self._workload)

    async def pods(self, lives: Iterable[Life]) -> None:
        await self._sender.each(lives, self.pod)

    async def pod(self, life: Life) -> None:
        """It exists, Running and Ready, when this returns."""
        workload = life.workload
        namespace, owner = workload.namespace, self.owners.get(workload.number)
        if owner is None:
            return  # The refusal of its owner is counted, and says more than hundreds of these.
        manifest = pods.pod(life, replica_set_uid=owner)
        await self._made(writes.create(PODS, namespace, manifest))
        status = {"status": pods.running(life, now=self._clock.now())}
        await self._sender.send(
            writes.patch(PODS, namespace, life.name, status, subresource="status")
        )

    async def _namespace(self, name: str) -> None:
        metadata: Json = {"name": name, "labels": self._plan.labels}
        await self._made(writes.create(NAMESPACES, "", {"metadata": metadata}))
        # A pod needs it, and the controller that would make it may be slow, or not be there.
        account: Json = {"metadata": {"name": "default", "namespace": name}}
        await self._made(writes.create(SERVICE_ACCOUNTS, name, account))

    async def _node(self, number: int) -> None:
        plan, now = self._plan, self._clock.now()
        name = plan.node_names[number]
        uid = await self._uid(NODES, "", name, nodes.node(plan, number))
        lease = nodes.lease(plan, number, node_uid=uid, now=now)
        await self._made(writes.create(LEASES, LEASE_NAMESPACE, lease))
        status = nodes.node_status(plan, number, ready_since=now, now=now)
        await self._sender.send(
            writes.patch(NODES, "", name, {"status": status}, subresource="status")
        )

    async def _workload(self, workload: Workload) -> None:
        namespace = workload.namespace
        uid = await self._uid(DEPLOYMENTS, namespace, workload.name, workloads.deployment(workload))
        self.owners[workload.number] = await self._uid(
            REPLICA_SETS,
            namespace,
            workload.replica_set_name,
            workloads.replica_set(workload, deployment_uid=uid),
        )

    async def _made(self, call: Call) -> bytes | None:
        """The new object; None when there was one of this name."""
        try:
            return await self._sender.send(call, done_by=(AlreadyExistsError,))
        except AlreadyExistsError:
            return None

    async def _uid(self, resource: Resource[Any], namespace: str, name: str, manifest: Json) -> str:
        made = await self._made(writes.create(resource, namespace, manifest))
        if made is None:
            made = await self._sender.send(calls.getting(resource, namespace, name))
        return writes.uid_in(made)
