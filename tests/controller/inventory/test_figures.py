from collections.abc import Iterable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.cluster.watched_objects import ObjectsSnapshot
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.inventory.amounts import NOTHING, CpuMemory
from nemutator_controller.inventory.figures import count_cluster, wanted
from nemutator_controller.inventory.model import Tally, UseLevels
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.workload_objects import WatchedWorkload

from tests.fakes.inventory import NOW, FixedUse, counted_pod, figures, last_use, shop
from tests.fakes.pods import picture

GI = 1 << 30


def test_a_node_has_what_it_can_take_what_is_requested_and_what_pods_use() -> None:
    nodes = shop().nodes
    one, two = nodes["n1"], nodes["n2"]
    assert one.allocatable == CpuMemory(4000, 8 * GI)
    assert (one.tally.requests, one.tally.pods) == (CpuMemory(500, GI), 1)
    assert (one.tally.cpu_cores, one.tally.memory_bytes) == (0.25, 1 << 28)
    assert (one.is_ready, one.most_pods) == (True, 110)
    assert (two.is_ready, two.allocatable, two.tally.pods) == (False, NOTHING, 1)


def test_what_is_wasted_on_nodes_adds_up_to_what_workloads_waste() -> None:
    found = shop()
    one, two = found.nodes["n1"].waste, found.nodes["n2"].waste
    assert (one, two) == (CpuMemory(300, GI // 2), CpuMemory(300, GI // 2))
    assert one + two == found.waste


def test_a_workload_has_its_replicas_its_use_and_its_waste() -> None:
    web = shop().workloads["shop", "Deployment", "web"]
    assert (web.wanted, web.ready, web.tally.pods) == (3, 1, 2)
    assert (web.tally.restarts, web.tally.oom_ended) == (2, 1)
    assert web.tally.requests == CpuMemory(1000, 2 * GI)
    assert web.tally.cpu_cores == pytest.approx(0.3)
    assert web.tally.memory_bytes == 1 << 28
    assert (web.tally.throttled, web.tally.network_received) == (0.5, 10.0)
    assert web.levels is not None
    assert web.levels.worst == CpuMemory(400, 1 << 30)
    assert web.waste == CpuMemory(600, GI)
    assert web.autoscaler is not None
    assert web.disruption_budget is not None
    assert web.vertical_autoscaler is None


def test_what_has_no_pods_is_there_and_what_has_ended_is_not() -> None:
    found = shop()
    empty = found.workloads["shop", "Deployment", "empty"]
    assert (empty.wanted, empty.tally.pods, empty.waste) == (0, 0, None)
    waiting = found.workloads["shop", "Pod", "db-1"]
    assert (waiting.tally.pending, waiting.tally.unscheduled, waiting.wanted) == (1, 1, 1)
    assert list(found.workloads) == [
        ("shop", "Deployment", "empty"),
        ("shop", "Deployment", "web"),
        ("shop", "Pod", "db-1"),
    ]
    assert found.total.pods == 3


def test_what_another_object_makes_is_counted_with_that() -> None:
    owner = {"kind": "CronJob", "name": "night", "uid": "c", "controller": True}
    manifest = {"metadata": {"name": "night-1", "namespace": "shop", "ownerReferences": [owner]}}
    made = msgspec.convert(manifest, WatchedWorkload)
    objects = only_job(made)
    assert list(figures(objects=objects).workloads) == []


def only_job(job: WatchedWorkload) -> ObjectsSnapshot:
    return ObjectsSnapshot(workloads={"Job": {job.metadata.key: job}})


def test_how_many_pods_are_wanted_depends_on_the_kind() -> None:
    def of(kind: str, spec: dict[str, object], status: dict[str, object]) -> int | None:
        manifest = {"metadata": {"name": "x"}, "spec": spec, "status": status}
        return wanted(kind, msgspec.convert(manifest, WatchedWorkload))

    assert of("Deployment", {}, {}) == 1
    assert of("StatefulSet", {"replicas": 0}, {}) == 0
    assert of("DaemonSet", {}, {"desiredNumberScheduled": 7}) == 7
    assert of("Job", {"parallelism": 4}, {"active": 2}) == 2
    assert of("CronJob", {}, {"active": []}) is None
    assert wanted("Rollout", None) is None


NAMES = st.sampled_from(("a", "b", "c"))


@st.composite
def pods(draw: st.DrawFn) -> list[Pod]:
    found = []
    for number in range(draw(st.integers(0, 12))):
        found.append(
            counted_pod(
                f"p-{number}",
                namespace=draw(NAMES),
                node=draw(st.sampled_from(("", "n1", "n2"))),
                deployment=draw(st.sampled_from((None, "web", "db"))),
                requests={"cpu": f"{draw(st.integers(0, 9999))}m", "memory": "1Mi"},
                ready=draw(st.booleans()),
                phase=draw(st.sampled_from(("Pending", "Running", "Succeeded", "Failed"))),
                restarts=draw(st.integers(0, 9)),
            )
        )
    return found


@given(pods())
def test_the_sums_of_parts_are_the_totals(those: list[Pod]) -> None:
    use = {
        node: [
            last_use(each.metadata.name, 0.5, 10.0) for each in those if each.spec.node_name == node
        ]
        for node in ("n1", "n2")
    }
    levels = {("a", "Deployment", "web", "app"): UseLevels(0.1, 0.2, 1, 2)}
    found = count_cluster(picture(*those), ObjectsSnapshot(), FixedUse(use), levels, now=NOW)
    going = [each for each in those if not each.has_ended]
    assert found.total.pods == len(going)
    by_workload = summed(each.tally for each in found.workloads.values())
    by_namespace = summed(each.tally for each in found.namespaces.values())
    assert by_workload == by_namespace == found.total
    on_nodes = summed(each.tally for each in found.nodes.values())
    elsewhere = summed(
        each.tally
        for each in figures(*(p for p in going if not p.spec.node_name)).workloads.values()
    )
    on_nodes.add(elsewhere)
    assert on_nodes == found.total
    wastes = [each.waste for each in found.workloads.values() if each.waste is not None]
    assert sum(each.cpu_millis for each in wastes) == found.waste.cpu_millis


def summed(tallies: Iterable[Tally]) -> Tally:
    total = Tally()
    for each in tallies:
        total.add(each)
    return total


def test_a_container_that_its_pod_has_no_status_of_any_more_is_counted_and_shown_as_none() -> None:
    ended = Series("/before", "u-web-1", "c-before", None), last_use("web-1", 0.5, 10.0)[1]
    use = {"n1": [ended, last_use("web-1", 0.25, 20.0)], "n2": [last_use("web-1", 9.0, 9.0)]}
    found = figures(counted_pod("web-1", node="n1"), use=use)
    assert (found.total.cpu_cores, found.total.memory_bytes) == (0.75, 30), "n2 has no say"
    [[counted]] = [each.pods for each in found.workloads.values()]
    assert counted.use is not None
    assert [each and each.cpu_cores for each in counted.use.by_statuses()] == [0.25]
