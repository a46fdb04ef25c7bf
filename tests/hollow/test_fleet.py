"""A fleet on the fake API server: written, kept alive, churned and taken away."""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from nemutator_common.secret import Secret
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.transport import HttpTransport

from tests.fakes.kube import kinds
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.kinds import Kind
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter
from tests.fakes.scripted_kube import EagerClock
from tests.hollow.clearing import NotClearedError
from tests.hollow.fleet import Fleet
from tests.hollow.heartbeats import RENEW_S, ROUNDS_BETWEEN_STATUSES
from tests.hollow.plan import LABEL, Plan

PLAN = Plan(nodes=3, pods=20, namespaces=2, largest_workload=8)

Json = dict[str, Any]


@pytest.fixture
async def kube() -> AsyncIterator[FakeKube]:
    async with FakeKube() as kube:
        yield kube


@contextlib.asynccontextmanager
async def fleet_on(
    kube: FakeKube, plan: Plan = PLAN, clock: EagerClock | None = None, token: str = ""
) -> AsyncIterator[Fleet]:
    access = Access(server=kube.url, ca=kube.ca_file.read_text(), token=Secret(token or kube.token))
    async with HttpTransport(Fixed(access), MemoryMeter()) as transport:
        yield Fleet(plan, transport, clock or EagerClock(), roll=lambda: 0.5)


@pytest.fixture
async def fleet(kube: FakeKube) -> AsyncIterator[Fleet]:
    async with fleet_on(kube) as fleet:
        yield fleet


def ours(kube: FakeKube, kind: Kind, name: str = "hollow") -> list[Json]:
    return [
        manifest
        for manifest in kube.store.all(kind)
        if manifest["metadata"].get("labels", {}).get(LABEL) == name
    ]


def uids(kube: FakeKube, kind: Kind) -> dict[str, str]:
    return {
        manifest["metadata"]["uid"]: manifest["metadata"]["name"] for manifest in ours(kube, kind)
    }


async def test_a_populated_fleet_is_all_there_and_runs(kube: FakeKube, fleet: Fleet) -> None:
    await fleet.populating.all()
    pods = ours(kube, kinds.PODS)
    assert {pod["metadata"]["name"] for pod in pods} == {life.name for life in PLAN.lives()}
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert len(ours(kube, kinds.NODES)) == len(ours(kube, kinds.LEASES)) == PLAN.nodes
    assert len(ours(kube, kinds.NAMESPACES)) == PLAN.namespaces
    assert not fleet.tally.refused


async def test_owners_exist_so_that_no_collector_takes_their_pods(
    kube: FakeKube, fleet: Fleet
) -> None:
    await fleet.populating.all()
    for kind, owners in (
        (kinds.PODS, kinds.REPLICA_SETS),
        (kinds.REPLICA_SETS, kinds.DEPLOYMENTS),
        (kinds.LEASES, kinds.NODES),
    ):
        known = uids(kube, owners)
        for manifest in ours(kube, kind):
            (owner,) = manifest["metadata"]["ownerReferences"]
            assert known[owner["uid"]] == owner["name"]


async def test_a_fleet_that_was_begun_is_completed(kube: FakeKube, fleet: Fleet) -> None:
    await fleet.populating.namespaces()
    await fleet.populating.workloads()
    await fleet.populating.pods(list(PLAN.lives())[:7])
    async with fleet_on(kube) as again:
        await again.populating.all()
        assert not again.tally.refused
    assert len(ours(kube, kinds.PODS)) == PLAN.pods
    assert {pod["status"]["phase"] for pod in ours(kube, kinds.PODS)} == {"Running"}


async def test_a_round_of_heartbeats_renews_every_lease_at_its_pace(kube: FakeKube) -> None:
    clock = EagerClock()
    async with fleet_on(kube, clock=clock) as fleet:
        await fleet.populating.nodes(range(PLAN.nodes))
        before = {lease["spec"]["renewTime"] for lease in ours(kube, kinds.LEASES)}
        clock.wall += 60
        begun = clock.elapsed
        await fleet.heartbeats.round()
        assert clock.elapsed - begun < RENEW_S
        after = [lease["spec"]["renewTime"] for lease in ours(kube, kinds.LEASES)]
        assert len(after) == PLAN.nodes
        assert min(after) > max(before)


async def test_every_nodes_status_is_fresh_after_five_minutes(kube: FakeKube) -> None:
    clock = EagerClock()
    async with fleet_on(kube, clock=clock) as fleet:
        await fleet.populating.nodes(range(PLAN.nodes))
        clock.wall += 60
        for _ in range(ROUNDS_BETWEEN_STATUSES):
            await fleet.heartbeats.round()
        written = fleet.tally.written["patch nodes/status"]
        assert written == 2 * PLAN.nodes, "once at the beginning and once in all the rounds"
        assert not fleet.tally.refused


async def test_a_silent_node_gets_no_heartbeats(kube: FakeKube) -> None:
    clock = EagerClock()
    async with fleet_on(kube, clock=clock) as fleet:
        await fleet.populating.nodes(range(PLAN.nodes))
        before = ours(kube, kinds.LEASES)
        fleet.heartbeats.silent = {1}
        clock.wall += 60
        await fleet.heartbeats.round()
        silent = PLAN.node_names[1]
        same = [lease["metadata"]["name"] for lease in ours(kube, kinds.LEASES) if lease in before]
        assert same == [silent]


async def test_churn_replaces_pods_and_keeps_their_number(kube: FakeKube, fleet: Fleet) -> None:
    await fleet.populating.all()
    before = {pod["metadata"]["name"] for pod in ours(kube, kinds.PODS)}
    await fleet.churning.some(13, per_s=100)
    pods = ours(kube, kinds.PODS)
    assert fleet.churning.replaced == 13
    assert {pod["metadata"]["name"] for pod in pods} == {life.name for life in fleet.churning.lives}
    assert len(before - {pod["metadata"]["name"] for pod in pods}) == 13
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert not fleet.tally.refused


async def test_churn_takes_its_time(kube: FakeKube) -> None:
    clock = EagerClock()
    async with fleet_on(kube, clock=clock) as fleet:
        await fleet.populating.all()
        begun = clock.elapsed
        await fleet.churning.some(20, per_s=4)
        assert clock.elapsed - begun >= 19 / 4


async def test_churn_outlives_pods_that_others_have_deleted(kube: FakeKube, fleet: Fleet) -> None:
    await fleet.populating.all()
    for pod in ours(kube, kinds.PODS):
        kube.store.remove(kinds.PODS, pod["metadata"]["namespace"], pod["metadata"]["name"])
    await fleet.churning.some(PLAN.pods, per_s=1000)
    assert len(ours(kube, kinds.PODS)) == PLAN.pods
    assert not fleet.tally.refused


async def test_clearing_leaves_nothing_and_touches_nobody_else(
    kube: FakeKube, fleet: Fleet
) -> None:
    async with fleet_on(kube, Plan(nodes=2, pods=5, name="other")) as other:
        await other.populating.all()
    await fleet.populating.all()
    await fleet.churning.some(5, per_s=1000)
    await fleet.clearing.all()
    assert not any((await fleet.clearing.left()).values())
    for kind in kinds.BUILT_IN:
        assert ours(kube, kind) == []
    assert len(ours(kube, kinds.PODS, "other")) == 5
    assert len(ours(kube, kinds.NODES, "other")) == 2


async def test_what_cannot_be_cleared_is_named(kube: FakeKube, fleet: Fleet) -> None:
    await fleet.populating.namespaces()
    await fleet.populating.nodes(range(1))
    node = ours(kube, kinds.NODES)[0]
    held = {**node, "metadata": {**node["metadata"], "finalizers": ["example.com/held"]}}
    kube.store.put(kinds.NODES, held)
    with pytest.raises(NotClearedError, match="still there: 1 nodes"):
        await fleet.clearing.all()


async def test_a_server_that_refuses_is_counted_with_its_reason(kube: FakeKube) -> None:
    token = kube.access.add_token("nobody-in-particular")
    async with fleet_on(kube, token=token) as fleet:
        await fleet.populating.all()
        assert not fleet.tally.written
        assert fleet.tally.refused["create namespaces"] == PLAN.namespaces
        assert "create namespaces" in fleet.tally.reasons["create namespaces"]
        assert "create pods" not in fleet.tally.refused
