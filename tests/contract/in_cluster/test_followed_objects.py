"""What follows its cluster, and is written back, over a fake API server."""

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from nemutator_controller.app.followed_objects import ClusterObjects, cluster_objects
from nemutator_controller.following.records import FollowedObject, ObjectChangedError
from nemutator_controller.mutations.decisions import Edit

from tests.contract.in_cluster.watched_cluster import outdated, watched
from tests.contract.kube.waiting import until
from tests.fakes.kube import kinds


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
