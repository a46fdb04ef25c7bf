"""Hollow Deployments and ReplicaSets.

They are real to everybody who reads them. What the controllers of a real control plane would make of
them is held back, because the pods are ours to make: a paused Deployment gets no ReplicaSet but
ours, and the pods that the ReplicaSet controller tries to create name a priority class that does
not exist, for which the API server refuses them.
"""

from typing import Any, Final

from tests.hollow.plan import Workload
from tests.hollow.shapes import annotations, labels, pod_spec

Json = dict[str, Any]

REFUSED: Final = "hollow-pods-are-made-by-hand"
"""A priority class that must never exist."""

TEMPLATE_HASH: Final = "pod-template-hash"

# As the deployment controller writes them: of each that is missing it makes two writes of its own.
REVISION: Final = {"deployment.kubernetes.io/revision": "1"}
DESIRED: Final = "deployment.kubernetes.io/desired-replicas"
MOST: Final = "deployment.kubernetes.io/max-replicas"


def deployment(workload: Workload) -> Json:
    return {
        "metadata": {
            "name": workload.name,
            "namespace": workload.namespace,
            "labels": _labels(workload),
            "annotations": REVISION,
        },
        "spec": {
            "replicas": workload.replicas,
            "paused": True,
            "selector": {"matchLabels": workload.selector},
            "template": _template(workload, {}),
        },
    }


def replica_set(workload: Workload, *, deployment_uid: str) -> Json:
    hashed = {TEMPLATE_HASH: workload.template_hash}
    return {
        "metadata": {
            "name": workload.replica_set_name,
            "namespace": workload.namespace,
            "labels": {**_labels(workload), **hashed},
            "annotations": {
                **REVISION,
                DESIRED: str(workload.replicas),
                # A quarter more during a rollout, by default.
                MOST: str(workload.replicas + -(-workload.replicas // 4)),
            },
            "ownerReferences": [
                owner("apps/v1", "Deployment", workload.name, deployment_uid),
            ],
        },
        "spec": {
            "replicas": workload.replicas,
            "selector": {"matchLabels": {**workload.selector, **hashed}},
            "template": _template(workload, hashed),
        },
    }


def owner(api_version: str, kind: str, name: str, uid: str) -> Json:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def pod_labels(workload: Workload) -> dict[str, str]:
    return {**_labels(workload), TEMPLATE_HASH: workload.template_hash}


def _labels(workload: Workload) -> dict[str, str]:
    return {**workload.plan.labels, **workload.selector, **labels(workload.shape)}


def _template(workload: Workload, more: dict[str, str]) -> Json:
    return {
        "metadata": {"labels": {**_labels(workload), **more}, "annotations": annotations()},
        "spec": {**pod_spec(workload.shape), "priorityClassName": REFUSED},
    }
