from typing import Any

import pytest
from nemutator_ctl.installation.rollouts import MOST_TROUBLES, troubles, unready

Json = dict[str, Any]


def workload(kind: str, wanted: int = 2, /, **status: Any) -> Json:
    return {
        "kind": kind,
        "metadata": {"generation": 3},
        "spec": {} if kind == "DaemonSet" else {"replicas": wanted},
        "status": status,
    }


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (workload("Deployment"), "not seen by its controller yet"),
        (workload("Deployment", observedGeneration=2), "not seen by its controller yet"),
        (
            workload("Deployment", observedGeneration=3, updatedReplicas=1),
            "1 of 2 are of the new version",
        ),
        (
            workload("Deployment", 2, observedGeneration=3, updatedReplicas=2, replicas=3),
            "1 of the old version are left",
        ),
        (
            workload(
                "Deployment",
                observedGeneration=3,
                updatedReplicas=2,
                replicas=2,
                availableReplicas=1,
            ),
            "1 of 2 are ready",
        ),
        (
            workload("StatefulSet", 1, observedGeneration=3, updatedReplicas=1),
            "0 of 1 are ready",
        ),
        (
            workload("StatefulSet", 1, observedGeneration=3, updatedReplicas=1, readyReplicas=1),
            "",
        ),
        (
            workload(
                "DaemonSet",
                observedGeneration=3,
                desiredNumberScheduled=4,
                updatedNumberScheduled=4,
                numberAvailable=3,
            ),
            "3 of 4 are ready",
        ),
        # A cluster without nodes.
        (workload("DaemonSet", observedGeneration=3), ""),
        ({"kind": "CustomResourceDefinition", "metadata": {}}, "not established yet"),
        (
            {
                "kind": "CustomResourceDefinition",
                "metadata": {},
                "status": {"conditions": [{"type": "Established", "status": "True"}]},
            },
            "",
        ),
    ],
)
def test_what_is_missing_is_said(document: Json, said: str) -> None:
    assert unready(document) == said


def test_what_holds_pods_up_is_said_in_a_few_lines() -> None:
    state = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    waiting = {
        "metadata": {"name": "brain-0"},
        "status": {
            "containerStatuses": [
                {"name": "brain", "state": state},
                {"name": "other", "state": {"waiting": {"reason": "ContainerCreating"}}},
                {"name": "third", "state": {"running": {}}},
            ]
        },
    }
    condition = {"type": "PodScheduled", "status": "False", "message": "no node fits"}
    nowhere = {"metadata": {"name": "brain-1"}, "status": {"conditions": [condition]}}
    assert troubles([waiting, nowhere]) == [
        "pod brain-0, brain: ImagePullBackOff: no such image",
        "pod brain-1: no node fits",
    ]
    assert troubles([{"metadata": {"name": "fresh"}}]) == []
    many = troubles([nowhere] * (MOST_TROUBLES + 2))
    assert (len(many), many[-1]) == (MOST_TROUBLES + 1, "and 2 more")
