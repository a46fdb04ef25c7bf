"""What features of the brain write on objects of a cluster, over a fake API server."""

import contextlib
import dataclasses
from pathlib import Path

import pytest
from nemutator_common import names
from nemutator_controller.ageing.marks import NotMarkedError
from nemutator_controller.ageing.sentences import sentence
from nemutator_controller.ageing.verdicts import assess
from nemutator_controller.app.neighbours import LabelsInCluster, PlacesByPath, PlacesInCluster
from nemutator_controller.neighbours.labels import LabelledObject, NotLabelledError
from nemutator_controller.profiles.records import PodRef, ResultUnwrittenError

from tests.contract.in_cluster.watched_cluster import WEB, pod, watched
from tests.contract.kube.waiting import until
from tests.fakes.ageing import FRAMES, SHOP, kept_windows, window_source
from tests.fakes.kube import kinds


async def test_a_result_is_written_to_the_very_pod(tmp_path: Path) -> None:
    async with watched(tmp_path) as (kube, cluster):
        await cluster.results.write(WEB, "done")
        written = kube.store.get(kinds.PODS, "shop", "web-1")
        assert written is not None
        assert written["metadata"]["annotations"] == {"nemutator.io/profile-result": "done"}
        with pytest.raises(ResultUnwrittenError):
            await cluster.results.write(PodRef("shop", "web-1", "another"), "done")


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
        found = places.of_all("n1", [("gone", "c"), ("u1", "c-u1"), ("u1", "an-older-one")])
        shown = [one and (one.pod, one.container, one.owner) for one in found]
        assert shown == [None, ("web-1", "app", "web-1"), ("web-1", "an-older-one", "web-1")]
        assert places.of_all("n2", [("u1", "c-u1")]) == [None]


def test_off_clusters_each_group_is_a_neighbour_of_its_own() -> None:
    found, nobody = PlacesByPath().of_all("m", [("/system.slice/x.service", ""), ("/", "")])
    assert found is not None
    assert (found.namespace, found.pod, found.uid) == (
        "system.slice",
        "x.service",
        "m:/system.slice/x.service",
    )
    assert nobody is None


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
