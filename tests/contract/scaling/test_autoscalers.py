"""What scaling asks of autoscalers, of the fake and of an API server; and a raised minimum is taken back by the journal."""

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from nemutator_controller.app.inventory import WatchedByBrain
from nemutator_controller.app.scaled_autoscalers import (
    ClusterAutoscalers,
    SpareOfCluster,
    cpu_goal,
)
from nemutator_controller.inventory.current_use import CurrentUse
from nemutator_controller.inventory.taking import CountedCluster
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.kube_objects import KubeObjects
from nemutator_controller.journal.rolling_back import RollingBack
from nemutator_controller.kube.workload_objects import (
    MetricTarget,
    ResourceMetric,
    ScalingMetric,
)
from nemutator_controller.scaling.journaled_changes import raising_decision
from nemutator_controller.scaling.marks import RaisedMark
from nemutator_controller.scaling.ports import ScaledAutoscalers
from nemutator_controller.scaling.records import CpuGoal, FoundAutoscaler, ScalerKey

from tests.contract.in_cluster.watched_cluster import watched
from tests.contract.kube.waiting import until
from tests.fakes.clocks import ManualClock
from tests.fakes.inventory import FixedLevels
from tests.fakes.journals import MemoryJournal
from tests.fakes.kube import kinds
from tests.fakes.process import fake_process
from tests.fakes.scaling import MemoryAutoscalers, autoscaler

KEY: ScalerKey = ("shop", "web")
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}


@dataclass
class Place:
    port: ScaledAutoscalers
    change: Callable[[int], None]
    """Somebody else writes another minimum."""
    remove: Callable[[], None]

    async def seen(self, condition: Callable[[FoundAutoscaler], bool]) -> FoundAutoscaler:
        found: Mapping[ScalerKey, FoundAutoscaler] = {}

        async def known() -> bool:
            nonlocal found
            found = await self.port.now({KEY}) or {}
            return KEY in found and condition(found[KEY])

        await until(known, "the autoscaler is as it should be")
        return found[KEY]


@contextlib.asynccontextmanager
async def in_memory(_: Path) -> AsyncIterator[Place]:
    made = MemoryAutoscalers()
    made.put(autoscaler())

    def change(minimum: int) -> None:
        made.put(autoscaler(minimum=minimum, version="77"))

    yield Place(made, change, lambda: made.there.clear())


@contextlib.asynccontextmanager
async def of_a_server(folder: Path) -> AsyncIterator[Place]:
    async with watched(folder) as (kube, cluster):
        kube.store.put(kinds.DEPLOYMENTS, deployment())
        kube.store.put(kinds.AUTOSCALERS, of_two())

        def change(minimum: int) -> None:
            found = kube.store.get(kinds.AUTOSCALERS, *KEY)
            assert found is not None
            kube.store.put(
                kinds.AUTOSCALERS, {**found, "spec": {**found["spec"], "minReplicas": minimum}}
            )

        def remove() -> None:
            kube.store.remove(kinds.AUTOSCALERS, *KEY)

        yield Place(ClusterAutoscalers(cluster, counted(cluster)), change, remove)


class Hurrying(ManualClock):
    """Whoever asks it twice has waited long enough for new figures."""

    def monotonic(self) -> float:
        self._elapsed += 60.0
        return self._elapsed


def counted(cluster: Any) -> CountedCluster:
    async def at_once(body: Callable[[], Any]) -> Any:
        return body()

    use = CurrentUse(most_nodes=10)
    return CountedCluster(WatchedByBrain(cluster), use, FixedLevels(), at_once, Hurrying())


def of_two() -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    return {
        "metadata": {"name": "web", "namespace": "shop", "uid": "u-web"},
        "spec": {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 10, "metrics": [CPU]},
    }


def deployment() -> dict[str, Any]:
    container = {"name": "app", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    labels = {"app": "web"}
    return {
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }


def mark(found: FoundAutoscaler) -> RaisedMark:
    return RaisedMark(base=found.base, raised=6, decision="d1", by="nemutator", uid=found.uid)


@pytest.fixture(params=[in_memory, of_a_server])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with request.param(tmp_path) as made:
        yield made


async def test_a_minimum_is_raised_and_given_back_with_nothing_left(place: Place) -> None:
    found = await place.seen(lambda one: one.request_millis == 1_000)
    assert (found.minimum, found.maximum, found.goal) == (2, 10, CpuGoal(percent=50))
    assert found.workload == ("shop", "Deployment", "web")
    await place.port.raise_to(found, 6, mark(found).text)
    raised = await place.seen(lambda one: one.minimum == 6)
    assert (raised.base, raised.mark) == (2, mark(found))
    # Ours is found by its annotation as well, whoever asks.
    assert KEY in (await place.port.now(set()) or {})
    await place.port.give_back(raised, 2)
    back = await place.seen(lambda one: one.minimum == 2)
    assert back.annotation == ""
    assert await place.port.now(set()) == {}


async def test_what_has_changed_since_or_is_gone_is_not_written(place: Place) -> None:
    found = await place.seen(lambda one: one.request_millis == 1_000)
    place.change(4)
    await place.port.raise_to(found, 6, mark(found).text)
    now = await place.seen(lambda one: one.minimum != 2)
    assert (now.minimum, now.annotation) == (4, "")
    place.remove()
    await place.port.raise_to(now, 6, mark(now).text)
    await place.port.give_back(now, 2)

    async def gone() -> bool:
        return await place.port.now({KEY}) == {}

    await until(gone, "it is gone, and stays so")


async def test_the_journal_takes_a_raised_minimum_back(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.DEPLOYMENTS, deployment())
        kube.store.put(kinds.AUTOSCALERS, of_two())
        port = ClusterAutoscalers(cluster, counted(cluster))
        place = Place(port, lambda _: None, lambda: None)
        found = await place.seen(lambda one: one.request_millis == 1_000)
        decision = raising_decision(found, mark(found), scaler="web", why="so", at=0.0)
        await port.raise_to(found, 6, mark(found).text)
        await place.seen(lambda one: one.minimum == 6)
        store, process = MemoryJournal(), fake_process()
        await store.add([decision], writer="brain", state="answered")
        replicas = AdmissionReplicas(process=process, expected=False)
        objects = KubeObjects(cluster.reader, cluster.writer)
        rolling_back = RollingBack(store, objects, replicas, lambda: "r1", process)
        reversal = await rolling_back.roll_back(decision, evict=False)
        assert reversal.state == "reversed", reversal
        back = await place.seen(lambda one: one.minimum == 2)
        assert back.annotation == ""


async def test_spare_is_what_nodes_that_take_pods_can_take(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.NODES, node("n1"))
        kube.store.put(kinds.NODES, node("n2", unschedulable=True))
        # Twice what its kubelet has is oversold there.
        kube.store.put(kinds.NODES, node("n3", raw="2"))
        spare = SpareOfCluster(counted(cluster), lambda: None)

        async def known() -> bool:
            found = await spare.now()
            return found is not None and (found.allocatable, found.requested) == (6_000, 500)

        await until(known, "two nodes, and two pods of a quarter of a core each")


def node(name: str, *, unschedulable: bool = False, raw: str = "") -> dict[str, Any]:
    annotations = {"nemutator.io/raw-cpu": raw} if raw else {}
    ready = {"type": "Ready", "status": "True"}
    return {
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"unschedulable": unschedulable},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi"}, "conditions": [ready]},
    }


def metric(name: str = "cpu", type_: str = "Resource", **target: Any) -> ScalingMetric:
    return ScalingMetric(type=type_, resource=ResourceMetric(name, MetricTarget(**target)))


@pytest.mark.parametrize(
    ("metrics", "goal"),
    [
        (None, CpuGoal(percent=80)),
        (
            (metric("memory", average_utilization=5), metric(average_utilization=60)),
            CpuGoal(percent=60),
        ),
        ((metric(average_value="250m"),), CpuGoal(millis=250)),
        ((metric(average_value="many"),), None),
        ((metric("memory", average_utilization=5),), None),
        ((metric(type_="ContainerResource", average_utilization=5),), None),
    ],
)
def test_the_goal_is_the_cpu_of_whole_pods(
    metrics: tuple[ScalingMetric, ...] | None, goal: CpuGoal | None
) -> None:
    assert cpu_goal(metrics) == goal
