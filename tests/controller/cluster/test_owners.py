"""Who makes a pod, by its name alone; what the cluster's picture says is the same."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.cluster.owners import owner_of, workload
from nemutator_controller.cluster.pods import PodOwner

from tests.fakes.pods import kube_object, owned, picture, pod

NOW_MINUTE = 29_384_756


def manifest(kind: str, name: str, labels: Any = None, controller: Any = True) -> Any:
    owner = {"kind": kind, "name": name, "controller": controller}
    return {"metadata": {"labels": labels, "ownerReferences": [None, 3, owner]}}


@pytest.mark.parametrize(
    ("kind", "name", "labels", "expected"),
    [
        ("StatefulSet", "db", {}, ("StatefulSet", "db")),
        ("ReplicaSet", "web-abc", {"pod-template-hash": "abc"}, ("Deployment", "web")),
        ("ReplicaSet", "web-abc", {"rollouts-pod-template-hash": "abc"}, ("Rollout", "web")),
        ("ReplicaSet", "web-a", {"pod-template-hash": "a"}, ("Deployment", "web")),
        ("ReplicaSet", "web-abc", {"pod-template-hash": "zzz"}, ("ReplicaSet", "web-abc")),
        ("ReplicaSet", "web-abc", {"pod-template-hash": ""}, ("ReplicaSet", "web-abc")),
        ("ReplicaSet", "web-abc", {}, ("ReplicaSet", "web-abc")),
        ("Job", "night-29384756", {}, ("CronJob", "night")),
        ("Job", f"{'n' * 52}-29384756", {}, ("CronJob", "n" * 52)),
        # Nobody's run: no minute, a date, a name that no CronJob may have.
        ("Job", "migrate-1", {}, ("Job", "migrate-1")),
        ("Job", "backup-20261231", {}, ("Job", "backup-20261231")),
        ("Job", f"{'n' * 53}-29384756", {}, ("Job", f"{'n' * 53}-29384756")),
        ("Job", "-29384756", {}, ("Job", "-29384756")),
        ("Gadget", "night-29384756", {}, ("Gadget", "night-29384756")),
    ],
)
def test_a_version_or_a_run_is_called_after_its_workload(
    kind: str, name: str, labels: dict[str, str], expected: tuple[str, str]
) -> None:
    assert workload(kind, name, labels) == expected
    assert owner_of(manifest(kind, name, labels)) == expected


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"metadata": 3},
        {"metadata": {"ownerReferences": "x"}},
        manifest("Job", "night-29384756", controller=False),
        manifest("Job", "night-29384756", controller="true"),
    ],
)
def test_whom_nobody_manages_has_no_owner(odd: Any) -> None:
    assert owner_of(odd) == ("", "")


@pytest.mark.slow
@given(st.from_regex(r"[a-z]([a-z0-9-]{0,50}[a-z0-9])?", fullmatch=True), st.integers(0, 10**6))
def test_the_picture_and_the_pod_say_the_same_of_every_run(name: str, after: int) -> None:
    run = f"{name}-{NOW_MINUTE + after}"
    seen = pod(owners=owned("Job", run, "j1"))
    known = picture(seen, jobs=(kube_object(run, "j1", owned("CronJob", name, "c1")),))
    unknown = picture(seen)
    assert known.owner(seen) == unknown.owner(seen) == PodOwner(*workload("Job", run, {}))


def test_a_stranger_cannot_make_a_name_longer_than_kubernetes_does() -> None:
    assert owner_of(manifest("StatefulSet", "n" * 254)) == ("StatefulSet", "n" * 253)
