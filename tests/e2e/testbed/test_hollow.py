"""A hollow fleet on a real control plane: accepted as real by all of it, and gone without trace."""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import msgspec
import pytest
from nemutator_common.secret import Secret
from nemutator_common.system_clock import SystemClock
from nemutator_controller.kube.calls import Selection
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import Resource
from nemutator_controller.kube.transport import HttpTransport

from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.indexes import by_owner
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.hollow.fleet import Fleet
from tests.hollow.plan import LABEL, Plan
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.waiting import until

PLAN = Plan(name="hollow-e2e", nodes=20, pods=200, namespaces=2)
CHURNED = 20
PATIENCE_S = 90.0
"""On a machine that does much else at the same time; alone it takes seven seconds."""

KINDS = "deployments,replicasets,pods,nodes,leases,namespaces"


@contextlib.asynccontextmanager
async def reached(cluster: Cluster) -> AsyncIterator[HttpTransport]:
    access = Access(
        server=cluster.url, ca=cluster.ca_file.read_text(), token=Secret(cluster.admin_token)
    )
    async with HttpTransport(Fixed(access), MemoryMeter()) as transport:
        yield transport


class Condition(msgspec.Struct, frozen=True):
    type: str
    status: str


class FleetStatus(msgspec.Struct, frozen=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class FleetPod(Object, frozen=True, gc=False):
    """With the fields by which people see that a pod is ready; the product does not read them."""

    status: FleetStatus = FleetStatus()


FLEET_PODS = Resource("", "v1", "pods", "Pod", FleetPod)


@contextlib.asynccontextmanager
async def informed(transport: HttpTransport) -> AsyncIterator[Informer[FleetPod]]:
    informer = Informer(
        FLEET_PODS,
        transport=transport,
        process=fake_process(clock=SystemClock()),
        selection=Selection(labels=f"{LABEL}={PLAN.name}"),
        indexes={"owner": by_owner},
    )
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        await informer.synced()
        yield informer
        task.cancel()


async def seen(informer: Informer[FleetPod], holds: Callable[[list[FleetPod]], bool]) -> None:
    with informer.subscribe("test") as subscription:
        while not holds(list(informer.snapshot().objects.values())):
            await subscription.next()


def is_ready(pod: FleetPod) -> bool:
    return pod.status.phase == "Running" and any(
        condition.type == "Ready" and condition.status == "True"
        for condition in pod.status.conditions
    )


def listed(cluster: Cluster) -> list[dict[str, Any]]:
    """All that carries the fleet's label, as kubectl finds it."""
    found = cluster.get(KINDS, "--all-namespaces", f"--selector={LABEL}={PLAN.name}")
    manifests: list[dict[str, Any]] = found["items"]
    return manifests


def only_ours_taint_the_nodes(cluster: Cluster) -> bool:
    """Every new node is tainted as not ready, until the node controller finds that it is."""
    _, body = cluster.ask(f"/api/v1/nodes?labelSelector={LABEL}%3D{PLAN.name}")
    taints = [
        [taint["key"] for taint in node["spec"]["taints"]] for node in json.loads(body)["items"]
    ]
    return taints == [[LABEL]] * PLAN.nodes


@pytest.mark.timeout(PATIENCE_S + 30)  # a whole fleet, from its first node to the last's end
async def test_a_fleet_is_populated_churned_and_removed_without_trace(cluster: Cluster) -> None:
    async with (
        asyncio.timeout(PATIENCE_S),
        reached(cluster) as transport,
        informed(transport) as informer,
    ):
        fleet = Fleet(PLAN, transport, SystemClock(), roll=random.random)
        try:
            await fleet.populating.all()
            first = {life.name for life in PLAN.lives()}
            await seen(informer, lambda pods: sum(map(is_ready, pods)) == PLAN.pods)
            assert {pod.metadata.name for pod in informer.snapshot().objects.values()} == first

            await fleet.churning.some(CHURNED, per_s=100)
            now = {life.name for life in fleet.churning.lives}
            assert len(first - now) == CHURNED
            await seen(
                informer,
                lambda pods: {pod.metadata.name for pod in pods if is_ready(pod)} == now,
            )
            await asyncio.to_thread(
                until,
                lambda: only_ours_taint_the_nodes(cluster),
                "the node controller finds all nodes ready",
                within_s=60,
            )
            # The ReplicaSet controller is content with our pods: none of its own, none missing.
            assert len(informer.snapshot()) == PLAN.pods
            assert fleet.tally.refused == {}
        finally:
            await fleet.clearing.all()
        await seen(informer, lambda pods: not pods)
    assert await asyncio.to_thread(listed, cluster) == []
