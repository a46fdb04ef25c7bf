"""A pod of a cluster is resized by the whole engine, and taken back by the journal's rollback, over a fake API server."""

import uuid
from pathlib import Path
from typing import Any

import pytest
from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.scaled_workloads import (
    FOLLOWED,
    SIZED,
    FlagsOfTemplates,
    ImagesOfTemplates,
    ScaledWorkloads,
)
from nemutator_controller.app.sized_pods import ClusterSizedPods, SizedPodEvictor
from nemutator_controller.journal.admission_replicas import AdmissionReplicas
from nemutator_controller.journal.kube_objects import KubeObjects
from nemutator_controller.journal.rolling_back import RollingBack
from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.updating.evicting import SizingEvictions
from nemutator_controller.updating.ports import GivenAdvice
from nemutator_controller.updating.records import (
    ContainerAdvice,
    PodChangedError,
    SizedWorkload,
)
from nemutator_controller.updating.resize_writing import ResizeWriter
from nemutator_controller.updating.resizing import RunningResizes

from tests.contract.in_cluster.watched_cluster import pod, watched
from tests.contract.kube.waiting import until
from tests.fakes.hourly import MemoryHourly
from tests.fakes.journals import MemoryJournal
from tests.fakes.kube import kinds
from tests.fakes.process import fake_process
from tests.fakes.sized_pods import MemorySizingJournal, MemorySizings, Replicas, firm

CPU = "containers[name=app].resources.requests.cpu"


class AdviceForAll:
    """A `GivenAdvice`."""

    def __init__(self, workload: SizedWorkload) -> None:
        self.workload = workload

    async def now(self) -> dict[SizedWorkload, dict[str, ContainerAdvice]]:
        return {self.workload: {"app": firm(cpu="500m", last_at=1e12)}}


def running(name: str, uid: str) -> dict[str, Any]:
    found = pod(name, uid)
    return found | {"status": {**found["status"], "phase": "Running"}}


def evictor_of(cluster: Cluster) -> SizedPodEvictor:
    nodes = cluster.objects
    return SizedPodEvictor(
        cluster.writer, cluster.announcer, lambda: nodes.snapshot().nodes.values()
    )


async def test_a_pod_is_resized_and_taken_back(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, running("web-3", "u3"))
        pods = ClusterSizedPods(cluster)

        async def known() -> bool:
            found = await pods.now() or ()
            if not found or pods.around(found[0]) is None:
                return False
            return [each.name for each in found] == ["web-3"]

        await until(known, "the pod and what is around it are known")
        [seen] = await pods.now() or ()
        assert (seen.node, seen.workload) == ("n1", ("shop", "Pod", "web-3"))
        read = await pods.read(seen)
        assert read is not None
        fresh, document, version = read
        assert fresh.containers == seen.containers

        journal = MemorySizingJournal()
        advice: GivenAdvice = AdviceForAll(seen.workload)
        policies = MemorySizings(p={"mode": "InPlace"})
        process = fake_process()
        engine = RunningResizes(
            pods,
            policies,
            advice,
            journal,
            Replicas(),
            SizingEvictions(evictor_of(cluster), process),
            ResizeWriter(pods, journal, process, lambda: uuid.uuid4().hex),
            process,
            MemoryHourly(),
            per_minute=600,
        )
        engine._room = 600
        await engine.check()
        assert [each.state for each in engine.progress["p"].pods] == ["given"], engine.progress
        [decision] = journal.decisions
        after = await pods.read(seen)
        assert after is not None
        [container] = after[1]["spec"]["containers"]
        assert container["resources"]["requests"] == {"cpu": "500m", "memory": "64Mi"}
        assert decision.id in after[0].stamp

        again = Edit(path=CPU, before=("250m",), after=("1",), verb="sizing", policy="p")
        with pytest.raises(PodChangedError):
            await pods.resize(fresh, document, version, [again])

        assert await _taken_back(KubeObjects(cluster.reader, cluster.writer), decision) == {
            CPU: "reversed"
        }
        back = await pods.read(seen)
        assert back is not None
        [container] = back[1]["spec"]["containers"]
        assert container["resources"]["requests"] == {"cpu": "250m", "memory": "64Mi"}

        async def left() -> bool:
            await engine.check()
            return [each.state for each in engine.progress["p"].pods] == ["left"]

        await until(left, "what was taken back is left alone")
        assert len(journal.decisions) == 1


async def _taken_back(objects: KubeObjects, decision: Decision) -> dict[str, str]:
    process = fake_process()
    store = MemoryJournal()
    await store.add([decision], writer="brain", state="answered")
    replicas = AdmissionReplicas(process=process, expected=False)
    rolling_back = RollingBack(store, objects, replicas, lambda: "r1", process)
    reversal = await rolling_back.roll_back(decision, evict=False)
    return {each.path: each.result for each in reversal.outcomes}


async def test_a_pod_is_evicted_as_by_kubectl_drain(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, running("web-3", "u3"))
        pods = ClusterSizedPods(cluster)

        async def known() -> bool:
            return [each.name for each in await pods.now() or ()] == ["web-3"]

        await until(known, "the pod is known")
        [seen] = await pods.now() or ()
        evictor = evictor_of(cluster)
        await evictor.evict(seen)
        # Of one that is gone there is nothing to say.
        await evictor.evict(seen)
        assert await pods.read(seen) is None


async def test_workloads_that_autoscalers_follow_are_known(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        kube.store.put(
            kinds.AUTOSCALERS,
            {
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {"scaleTargetRef": target, "maxReplicas": 3},
            },
        )
        scaled = ScaledWorkloads(cluster)

        async def known() -> bool:
            return bool(scaled.now())

        await until(known, "the autoscaler is known")
        assert scaled.now() == {("shop", "Deployment", "web"): {"cpu": FOLLOWED}}
        assert "{}" in SIZED


async def test_what_a_workload_runs_and_how_it_starts_its_language_is_known(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        container = {"name": "app", "image": "registry:5000/shop/web:1.2", "args": ["-Xmx1g"]}
        kube.store.put(
            kinds.DEPLOYMENTS,
            {
                "metadata": {"name": "web", "namespace": "shop"},
                "spec": {
                    "selector": {"matchLabels": {"app": "web"}},
                    "template": {
                        "metadata": {"labels": {"app": "web"}},
                        "spec": {"containers": [container]},
                    },
                },
            },
        )
        flags = FlagsOfTemplates(cluster)
        web = ContainerKey("shop", "Deployment", "web", "app")

        async def known() -> bool:
            return flags.of_each([web]) == [("-Xmx1g",)]

        await until(known, "the template is known")
        others = [
            ContainerKey("shop", "Deployment", "web", "side"),
            ContainerKey("shop", "unit", "web", "app"),
        ]
        assert flags.of_each([*others, web]) == [(), (), ("-Xmx1g",)]
        images = ImagesOfTemplates(cluster)
        assert images.of_each([*others, web]) == ["", "", "registry:5000/shop/web"]
