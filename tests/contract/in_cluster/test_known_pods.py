"""What features of the brain get to know of pods, over a fake API server."""

import contextlib
import dataclasses
from pathlib import Path

from msgspec import structs
from nemutator_controller.ageing.model import AgedWorkload
from nemutator_controller.app.grants import WorkloadsOfPods
from nemutator_controller.cluster.pods import PodOwner
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.journal.records import StampedPod
from nemutator_controller.mutations.decisions import pod_subject
from nemutator_controller.profiles.records import KnownPod
from nemutator_controller.sizing.keys import ContainerKey, Requested

from tests.contract.in_cluster.watched_cluster import WEB, outdated, pod, watched
from tests.contract.kube.waiting import until
from tests.fakes.ageing import window_source
from tests.fakes.kube import kinds


def series(pod_uid: str, container_id: str | None) -> Series:
    return Series("/x", pod_uid, container_id, None)


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
        part = structs.replace(series("u1", "c-u1"), program="app")
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


async def test_the_brains_certificate_is_where_listeners_read_it(tmp_path: Path) -> None:
    async with watched(tmp_path) as (_, cluster):
        assert cluster.leaf.tls.load() is not None
        assert cluster.leaf.tls.key.stat().st_mode & 0o777 == 0o600


async def test_secrets_are_those_of_a_workload_while_its_pods_run(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        workloads = WorkloadsOfPods(cluster.watch)
        kube.store.put(kinds.PODS, outdated("cart-5d9f-1", "c1"))
        kube.store.put(kinds.PODS, outdated("cart-5d9f-2", "c2"))
        kube.store.put(kinds.PODS, pod("cart-tools", "c3"))

        async def seen() -> bool:
            return len(workloads.of({"c1", "c2", "c3"})) == 3

        await until(seen, "the pods are seen")
        cart = workloads.of({"c1"})["c1"]
        assert cart.name.startswith("cart")
        assert set(workloads.pods("shop", cart)) == {"c1", "c2"}
        assert workloads.pods("bank", cart) == []
        assert workloads.pods("shop", PodOwner("Pod", "cart")) == []
        assert workloads.of({"c1", "gone", "u1"}) == {"c1": cart, "u1": PodOwner("Pod", "web-1")}
