"""Who a pod in the making is."""

from typing import Any

import msgspec
import pytest
from nemutator_controller.admission.reviews import AdmissionRequest, decode, head_of
from nemutator_controller.admission.subjects import LONGEST, is_mirror, subject_of

from tests.fakes.admission_reviews import review


def request(manifest: Any, **more: Any) -> tuple[AdmissionRequest, dict[str, Any]]:
    """With the head of its object."""
    asked = decode(msgspec.json.encode(review(manifest, **more)))
    return asked, head_of(asked)


def owned(kind: str, name: str, labels: Any = None, controller: Any = True) -> Any:
    owner = {"kind": kind, "name": name, "controller": controller}
    return {"metadata": {"labels": labels, "ownerReferences": [None, owner]}}


@pytest.mark.parametrize(
    ("manifest", "owner"),
    [
        ({}, ("", "")),
        (owned("StatefulSet", "db"), ("StatefulSet", "db")),
        (owned("ReplicaSet", "web-abc", {"pod-template-hash": "abc"}), ("Deployment", "web")),
        (owned("ReplicaSet", "web-abc", {}), ("ReplicaSet", "web-abc")),
        (owned("ReplicaSet", "web-abc", {"pod-template-hash": ""}), ("ReplicaSet", "web-abc")),
        (owned("ReplicaSet", "x", controller=False), ("", "")),
        (owned("ReplicaSet", "x", controller="true"), ("", "")),
        ({"metadata": {"ownerReferences": "x"}}, ("", "")),
        ({"metadata": 3}, ("", "")),
    ],
)
def test_the_owner_is_the_workload_as_far_as_one_can_see(
    manifest: Any, owner: tuple[str, str]
) -> None:
    subject = subject_of(*request(manifest))
    assert (subject.owner_kind, subject.owner_name) == owner


def test_a_pod_may_have_no_name_yet() -> None:
    subject = subject_of(*request({"metadata": {"generateName": "web-"}}, name=""))
    assert (subject.namespace, subject.name, subject.generate_name) == ("default", "", "web-")
    assert subject_of(*request({"metadata": {"name": "a"}}, name=None)).name == "a"


def test_names_without_end_are_cut() -> None:
    endless = "x" * 10_000
    subject = subject_of(*request({"metadata": {"generateName": endless}}, name=endless))
    assert len(subject.name) == len(subject.generate_name) == LONGEST
    assert len(subject_of(*request({}, namespace=endless)).namespace) == LONGEST


def test_static_pods_are_kubelets() -> None:
    mirror = {"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}}
    assert is_mirror(mirror)
    assert not is_mirror({"metadata": {"annotations": None}})
