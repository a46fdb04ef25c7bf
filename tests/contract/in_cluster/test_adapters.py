"""What features of the brain get of a cluster, over a fake API server."""

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names
from nemutator_common.secret import Secret
from nemutator_common.supervising import Supervisor
from nemutator_common.system_clock import SystemClock
from nemutator_controller.ageing.marks import NotMarkedError
from nemutator_controller.ageing.model import AgedWorkload
from nemutator_controller.ageing.sentences import sentence
from nemutator_controller.ageing.verdicts import assess
from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.evictions import QueuedMissedPods
from nemutator_controller.app.followed_objects import ClusterObjects, cluster_objects
from nemutator_controller.app.neighbours import LabelsInCluster, PlacesByPath, PlacesInCluster
from nemutator_controller.app.parts import add_tasks
from nemutator_controller.evictions.evicting import EvictionQueue
from nemutator_controller.evictions.pace import EvictionBudgets, EvictionPace
from nemutator_controller.evictions.records import (
    EvictablePod,
    NotAllowedNowError,
    PodGoneError,
)
from nemutator_controller.following.records import FollowedObject, ObjectChangedError
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.journal.records import StampedPod
from nemutator_controller.kube.configuration import Access
from nemutator_controller.kube.transport import HttpTransport
from nemutator_controller.mutations.decisions import Edit, pod_subject
from nemutator_controller.neighbours.labels import LabelledObject, NotLabelledError
from nemutator_controller.profiles.records import KnownPod, PodRef, ResultUnwrittenError
from nemutator_controller.registration.leaf_files import LeafFiles
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.sizing.keys import ContainerKey, Requested

from tests.contract.kube.waiting import until
from tests.fakes.ageing import FRAMES, SHOP, kept_windows, window_source
from tests.fakes.evictions import MemoryEvictions
from tests.fakes.kube import kinds
from tests.fakes.kube.configurations import Fixed
from tests.fakes.kube.server import FakeKube
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

WEB = PodRef("shop", "web-1", "u1")


def pod(name: str, uid: str, **annotations: str) -> dict[str, Any]:
    requests = {"cpu": "250m", "memory": "64Mi"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "shop",
            "uid": uid,
            "annotations": {f"nemutator.io/{key}": value for key, value in annotations.items()},
        },
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "app", "image": "x", "resources": {"requests": requests}}],
        },
        "status": {"containerStatuses": [{"name": "app", "containerID": f"containerd://c-{uid}"}]},
    }


def series(pod_uid: str, container_id: str | None) -> Series:
    return Series("/x", pod_uid, container_id, None)


@contextlib.asynccontextmanager
async def watched(folder: Path) -> AsyncIterator[tuple[FakeKube, Cluster]]:
    async with FakeKube() as kube, contextlib.AsyncExitStack() as stack:
        kube.store.put(kinds.NAMESPACES, {"metadata": {"name": "nemutator"}})
        kube.store.put(kinds.NAMESPACES, {"metadata": {"name": "shop"}})
        kube.store.put(kinds.PODS, pod("web-1", "u1"))
        kube.store.put(kinds.PODS, pod("web-2", "u2", profile="cpu 30s"))
        access = Access(server=kube.url, ca=kube.ca_file.read_text(), token=Secret(kube.token))
        transport = await stack.enter_async_context(HttpTransport(Fixed(access), MemoryMeter()))
        stop, supervisor = asyncio.Event(), Supervisor()
        cluster = Cluster(
            BrainSettings(data_dir=folder),
            transport,
            LeafFiles(folder),
            fake_process(clock=SystemClock()),
        )
        add_tasks(supervisor, cluster.tasks())
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            group.create_task(supervisor.run(stop))
            for informer in (cluster.watch.pods, cluster.watch.replica_sets, cluster.watch.jobs):
                await informer.synced()
            await cluster.registrar.has_leaf.wait()
            yield kube, cluster
            stop.set()


async def test_windows_learn_what_the_pods_of_their_own_node_declare(tmp_path: Path) -> None:
    async with watched(tmp_path) as (_, cluster):
        found = cluster.declared.find("n1", "u2")
        assert found is not None
        assert found.namespace == "shop"
        assert found.annotations == {"nemutator.io/profile": "cpu 30s"}
        assert cluster.declared.find("n2", "u2") is None
        assert cluster.declared.find("n1", "u9") is None


async def test_use_is_the_workloads_and_requests_are_the_pods(tmp_path: Path) -> None:
    async with watched(tmp_path) as (_, cluster):
        key = ContainerKey("shop", "Pod", "web-1", "app")
        assert cluster.usage_owners.of("n1", series("u1", "c-u1")) == key
        assert cluster.usage_owners.of("n1", series("u1", None)) is None
        part = dataclasses.replace(series("u1", "c-u1"), program="app")
        assert cluster.usage_owners.of("n1", part) is None
        assert cluster.usage_owners.of("n2", series("u1", "c-u1")) is None
        asked = await cluster.requests.now()
        assert asked[key] == Requested(250, 64 << 20)
        assert ContainerKey("shop", "Pod", "other", "app") not in asked


async def test_a_container_that_kubelet_saw_killed_for_memory_is_told_with_its_request(
    tmp_path: Path,
) -> None:
    async with watched(tmp_path) as (kube, cluster):
        for name, uid, reason, at in (
            ("web-3", "u3", "OOMKilled", "2023-11-14T22:13:20Z"),
            ("web-4", "u4", "Error", "2023-11-14T22:13:20Z"),
            ("web-5", "u5", "OOMKilled", "no time"),
            ("web-6", "u6", "OOMKilled", "2023-11-14T22:13:21Z"),
        ):
            ended = pod(name, uid)
            last = {"terminated": {"reason": reason, "finishedAt": at}}
            ended["status"]["containerStatuses"][0]["lastState"] = last
            kube.store.put(kinds.PODS, ended)
        changes = cluster.killed.changes()
        async with contextlib.aclosing(changes):  # type: ignore[type-var]
            told = [await anext(changes), await anext(changes)]
        assert {one.pod_uid: (one.key, one.at, one.requested) for one in told} == {
            "u3": (ContainerKey("shop", "Pod", "web-3", "app"), 1_700_000_000.0, 64.0 * (1 << 20)),
            "u6": (ContainerKey("shop", "Pod", "web-6", "app"), 1_700_000_001.0, 64.0 * (1 << 20)),
        }


async def test_images_in_use_are_those_of_pods_that_declare_variables(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        assert cluster.images_in_use.now() == set()
        declaring = pod("web-3", "u3")
        declaring["metadata"]["annotations"] = {"nemutator.io/env.DB": "secret/db#password"}
        declaring["spec"]["containers"][0]["image"] = "a.b/web:1"
        declaring["spec"]["initContainers"] = [
            {"name": "nemutator-init", "image": "ours:1"},
            {"name": "migrate", "image": "a.b/migrate:1"},
        ]
        kube.store.put(kinds.PODS, declaring)

        async def known() -> bool:
            return bool(cluster.images_in_use.now())

        await until(known, "the pod that declares variables")
        assert cluster.images_in_use.now() == {"a.b/web:1", "a.b/migrate:1"}


async def test_a_pod_is_known_by_its_name_and_by_its_uid(tmp_path: Path) -> None:
    async with watched(tmp_path) as (_, cluster):
        assert cluster.pods.find("shop/web-1") == KnownPod(WEB, "n1", "shop/web-1")
        assert cluster.pods.find("u1") == KnownPod(WEB, "n1", "shop/web-1")
        for name in ("shop/none", "none", "", "/"):
            assert cluster.pods.find(name) is None


async def test_pods_that_ask_are_told_first_all_and_then_as_they_change(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        changes = cluster.annotated.changes()
        async with contextlib.aclosing(changes):  # type: ignore[type-var]
            first = await anext(changes)
            assert (first.ref.name, first.node, first.wanted) == ("web-2", "n1", "cpu 30s")
            kube.store.put(kinds.PODS, pod("web-1", "u1", profile="cpu 5s"))
            second = await anext(changes)
            assert (second.ref, second.wanted, second.result) == (WEB, "cpu 5s", None)


async def test_pods_with_marks_are_told_first_all_and_then_as_they_change(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, pod("web-3", "u3", mutation='{"id": "d3"}'))
        changes = cluster.stamped.changes()
        async with contextlib.aclosing(changes):  # type: ignore[type-var]
            assert await anext(changes) == StampedPod(
                pod_subject("shop", "web-3", "u3"), '{"id": "d3"}'
            )
            kube.store.put(kinds.PODS, pod("web-4", "u4"))
            kube.store.put(kinds.PODS, pod("web-5", "u5", mutation="?"))
            assert (await anext(changes)).subject.uid == "u5"


async def test_a_result_is_written_to_the_very_pod(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        await cluster.results.write(WEB, "done")
        written = kube.store.get(kinds.PODS, "shop", "web-1")
        assert written is not None
        assert written["metadata"]["annotations"] == {"nemutator.io/profile-result": "done"}
        with pytest.raises(ResultUnwrittenError):
            await cluster.results.write(PodRef("shop", "web-1", "another"), "done")


async def test_what_ages_is_of_the_workload_of_its_pod_or_of_its_group(tmp_path: Path) -> None:
    async with watched(tmp_path) as (_, cluster):
        source = dataclasses.replace(window_source(), pod_uid="u1", container_id="c-u1")
        assert cluster.window_owners.of(source) == AgedWorkload(
            "shop", "Pod", "web-1", "app", "shop"
        )
        another_node = dataclasses.replace(source, node="n2")
        unknown = dataclasses.replace(source, pod_uid="u9")
        assert cluster.window_owners.of(another_node) is None
        assert cluster.window_owners.of(unknown) is None
        of_the_node = dataclasses.replace(source, pod_uid=None, container_id=None)
        assert cluster.window_owners.of(of_the_node) == AgedWorkload(
            "shop.slice", "unit", "shop.service", "-", "shop"
        )


async def test_a_leak_is_an_event_of_a_pod_that_is_still_there(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        gone = dataclasses.replace(window_source(1), pod_uid="gone")
        there = dataclasses.replace(window_source(2), pod_uid="u1")
        leaking = kept_windows(10, grows_by=5)
        cluster.ageing_news.notify(assess(SHOP, {gone: leaking}, FRAMES, now=600), "of nobody")
        found = assess(SHOP, {gone: leaking, there: leaking}, FRAMES, now=600)

        async def told() -> bool:
            return bool(kube.store.all(kinds.EVENTS))

        cluster.ageing_news.notify(found, sentence(found))
        await until(told, "an Event")
        (event,) = kube.store.all(kinds.EVENTS)
        assert (event["reason"], event["type"]) == ("Ageing", "Warning")
        assert event["involvedObject"]["uid"] == "u1"
        assert event["message"].startswith(
            "shop: leak (provisional): heap grows since its start, 5.0"
        )


async def test_grades_stand_on_the_very_pod_and_on_the_metadata_of_its_workload(
    tmp_path: Path,
) -> None:
    async with watched(tmp_path) as (kube, cluster):
        labels = LabelsInCluster(cluster)
        web = LabelledObject("Pod", "shop", "web-1", "u1")
        deployment = LabelledObject("Deployment", "shop", "web")
        kube.store.put(
            kinds.DEPLOYMENTS,
            {"metadata": {"name": "web", "namespace": "shop"}, "spec": {"template": {}}},
        )
        gone = LabelledObject("Pod", "shop", "gone", "u9")

        async def are_seen() -> bool:
            return labels.standing([web, deployment, gone]) == {web: {}, deployment: {}}

        await until(are_seen, "the pod and its Deployment")
        await labels.write(web, {names.VICTIM_NOW: "3"})
        await labels.write(deployment, {names.VICTIM_NOW: "3"})
        await labels.write(gone, {names.VICTIM_NOW: "3"})

        async def stand() -> bool:
            grade = {str(names.VICTIM_NOW): "3"}
            return labels.standing([]) == {web: grade, deployment: grade}

        await until(stand, "the labels")
        written = kube.store.get(kinds.DEPLOYMENTS, "shop", "web")
        assert written is not None
        assert written["metadata"]["labels"] == {"nemutator.io/victim-now": "3"}
        assert written["spec"] == {"template": {}}
        await labels.write(web, {names.VICTIM_NOW: None})

        async def is_taken_away() -> bool:
            return web not in (labels.standing([]) or {})

        await until(is_taken_away, "the label to go")
        with pytest.raises(NotLabelledError):
            await labels.write(
                LabelledObject("Pod", "shop", "web-1", "another"), {names.VICTIM_NOW: "1"}
            )
        places = PlacesInCluster(cluster.watch)
        found = places.of("n1", ("u1", "c-u1"))
        assert found is not None
        assert (found.pod, found.container) == ("web-1", "app")
        assert places.of("n2", ("u1", "c-u1")) is None


def test_off_clusters_each_group_is_a_neighbour_of_its_own() -> None:
    found = PlacesByPath().of("m", ("/system.slice/x.service", ""))
    assert found is not None
    assert (found.namespace, found.pod, found.uid) == (
        "system.slice",
        "x.service",
        "m:/system.slice/x.service",
    )
    assert PlacesByPath().of("m", ("/", "")) is None


async def test_what_ages_stands_on_its_pods_for_as_long_as_it_does(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        marks = cluster.ageing_marks
        assert marks.standing(["u1", "gone"]) == {"u1": None}
        await marks.mark("u1", "shop: leak")

        async def stands() -> bool:
            return marks.standing([]) == {"u1": "shop: leak"}

        await until(stands, "the mark")
        kube.store.put(kinds.PODS, pod("web-3", "u3", ageing="forged"))

        async def forged() -> bool:
            return marks.standing([]) == {"u1": "shop: leak", "u3": "forged"}

        await until(forged, "the mark of somebody else")
        await marks.mark("u3", None)
        written = kube.store.get(kinds.PODS, "shop", "web-3")
        assert written is not None
        assert "nemutator.io/ageing" not in written["metadata"].get("annotations", {})
        await marks.mark("gone", "shop: leak")
        # It is not the pod any more that is seen under this name.
        kube.store.put(kinds.PODS, pod("web-1", "another"))
        with contextlib.suppress(NotMarkedError):
            await marks.mark("u1", "shop: leak")
        written = kube.store.get(kinds.PODS, "shop", "web-1")
        assert written is not None
        assert "nemutator.io/ageing" not in written["metadata"].get("annotations", {})


async def test_the_brains_certificate_is_where_listeners_read_it(tmp_path: Path) -> None:
    async with watched(tmp_path) as (_, cluster):
        assert cluster.leaf.tls.load() is not None
        assert cluster.leaf.tls.key.stat().st_mode & 0o777 == 0o600


def outdated(name: str, uid: str, owner: str = "ReplicaSet", **status: Any) -> dict[str, Any]:
    """A pod that is to be evicted when its secrets have changed."""
    made = pod(name, uid, **{"on-rotate": "restart"})
    made["metadata"]["labels"] = {"app": "cart"}
    if owner:
        made["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "apps/v1",
                "kind": owner,
                "name": "cart-5d9f",
                "uid": "r",
                "controller": True,
            }
        ]
    ready = [{"type": "Ready", "status": "True"}]
    made["status"] = {"phase": "Running", "conditions": ready, **status}
    return made


async def restartable(cluster: Cluster, *names: str) -> list[EvictablePod]:
    """Once those with these names are seen, and no others."""
    while True:
        found = sorted(cluster.restartable.now(), key=lambda one: one.name)
        if [one.name for one in found] == list(names):
            return found
        await asyncio.sleep(0.05)


async def test_pods_to_restart_run_and_have_somebody_who_makes_another(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, outdated("cart-1", "c1"))
        kube.store.put(kinds.PODS, outdated("cart-2", "c2", conditions=[]))
        kube.store.put(kinds.PODS, outdated("done", "c3", phase="Succeeded"))
        kube.store.put(kinds.PODS, outdated("job", "c4", owner="Job"))
        kube.store.put(kinds.PODS, outdated("single", "c5", owner=""))
        first, unready, of_job, alone = await restartable(
            cluster, "cart-1", "cart-2", "job", "single"
        )
        assert (first.uid, first.node, first.is_ready) == ("c1", "n1", True)
        assert first.workload is not None
        assert first.workload == unready.workload
        assert not unready.is_ready
        assert of_job.workload is None
        assert alone.workload is None


async def test_an_eviction_is_of_that_very_pod_and_within_its_budget(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, outdated("cart-1", "c1"))
        (seen,) = await restartable(cluster, "cart-1")
        with pytest.raises(PodGoneError):
            await cluster.evictions.evict(dataclasses.replace(seen, uid="earlier"))
        budget = {
            "metadata": {"name": "cart", "namespace": "shop"},
            "spec": {"selector": {"matchLabels": {"app": "cart"}}},
            "status": {"disruptionsAllowed": 0, "observedGeneration": 1},
        }
        kube.store.put(kinds.DISRUPTION_BUDGETS, budget)
        with pytest.raises(NotAllowedNowError):
            await cluster.evictions.evict(seen)
        kube.store.remove(kinds.DISRUPTION_BUDGETS, "shop", "cart")
        await cluster.evictions.evict(seen)
        assert await restartable(cluster) == []


async def test_a_missed_pod_is_put_into_the_queue_of_evictions_once(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, outdated("cart-1", "c1"))
        kube.store.put(kinds.PODS, outdated("single", "c5", owner=""))
        await restartable(cluster, "cart-1", "single")
        budgets = EvictionBudgets(per_minute=9, node_per_minute=9, workload_at_once=1)
        process, store = fake_process(), MemoryEvictions()
        queue = EvictionQueue(
            cluster.evictable, store, cluster.evictions, EvictionPace(budgets), process
        )
        missed = QueuedMissedPods(queue, cluster.evictable, process)
        asked = [await missed.ask(followed(uid), "it has no secrets") for uid in ("c1", "c5", "c9")]
        assert asked == [True, False, False]
        assert not await missed.ask(followed("c1"), "again")
        assert queue.uids == {"c1"}
        [request] = store.asked.values()
        assert (request.by, request.reason) == ("nemutator", "it has no secrets")


def followed(uid: str) -> FollowedObject:
    return FollowedObject(
        subject=pod_subject("shop", "cart-1", uid), version="1", stamp="", labels={}
    )


def deployment(name: str, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "shop", "uid": f"d-{name}"} | more,
        "spec": {"template": {"metadata": {}, "spec": {"containers": []}}},
    }


async def all_seen(objects: ClusterObjects) -> dict[str, FollowedObject]:
    everything = objects.everything()
    return {} if everything is None else {one.subject.name: one async for one in everything}


async def seen_as(objects: ClusterObjects, *names: str) -> dict[str, FollowedObject]:
    """All that follow, once they are these."""
    await until(lambda: _are(objects, names), f"{names} are seen")
    return await all_seen(objects)


async def _are(objects: ClusterObjects, names: tuple[str, ...]) -> bool:
    return sorted(await all_seen(objects)) == list(names)


async def test_what_follows_is_every_pod_and_workload_once_and_then_what_has_changed(
    tmp_path: Path,
) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.PODS, outdated("done", "c3", phase="Succeeded"))
        operator = {
            "kind": "Shop",
            "name": "x",
            "uid": "s1",
            "apiVersion": "v1",
            "controller": True,
        }
        cron_job = operator | {"kind": "CronJob", "uid": "c1", "apiVersion": "batch/v1"}
        kube.store.put(kinds.DEPLOYMENTS, deployment("by-operator", ownerReferences=[operator]))
        kube.store.put(kinds.DEPLOYMENTS, deployment("made", ownerReferences=[cron_job]))
        kube.store.put(kinds.DEPLOYMENTS, deployment("web"))
        for informer in cluster.workloads.values():
            await informer.synced()
        with cluster_objects(cluster, "test") as objects:
            assert objects.changed() is None
            everything = await seen_as(objects, "by-operator", "web", "web-1", "web-2")
            web = everything["web"].subject
            assert (web.api_version, web.owner_kind, web.owner_name) == (
                "apps/v1",
                "Deployment",
                "web",
            )
            objects.changed()
            found: list[FollowedObject] = []

            async def web_has_changed() -> bool:
                found.extend(objects.changed() or ())
                return bool(found)

            kube.store.put(kinds.DEPLOYMENTS, deployment("web", labels={"app": "web"}))
            await until(web_has_changed, "the change of a workload is seen")
            assert [(one.subject.kind, one.labels) for one in found] == [
                ("Deployment", {"app": "web"})
            ]
            assert objects.changed() == []


async def test_a_workload_is_written_if_it_is_the_one_that_was_read(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        kube.store.put(kinds.DEPLOYMENTS, deployment("web"))
        label = Edit(
            path="workload.metadata.labels[team]",
            before=(),
            after=("a",),
            verb="labels",
            policy="p",
        )
        with cluster_objects(cluster, "test") as objects:
            web = (await seen_as(objects, "web", "web-1", "web-2"))["web"]
            read = await objects.read(web)
            assert read is not None
            await objects.write(web, *read, [label])
            after = await objects.read(web)
            assert after is not None
            assert after[0]["metadata"]["labels"] == {"team": "a"}
            assert after[0]["spec"] == read[0]["spec"]
            with pytest.raises(ObjectChangedError):
                await objects.write(web, *read, [label])
            other = dataclasses.replace(web, subject=dataclasses.replace(web.subject, uid="other"))
            assert await objects.read(other) is None
