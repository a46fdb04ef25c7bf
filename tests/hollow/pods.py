"""Hollow pods: bound to their node from the start, then Running and Ready by one status."""

from hashlib import blake2b
from typing import Any

from tests.hollow.moments import second
from tests.hollow.plan import Life, node_address
from tests.hollow.shapes import Container, annotations, pod_spec
from tests.hollow.workloads import owner, pod_labels

Json = dict[str, Any]

CONDITIONS = (
    "PodReadyToStartContainers",
    "Initialized",
    "Ready",
    "ContainersReady",
    "PodScheduled",
)


def pod(life: Life, *, replica_set_uid: str) -> Json:
    workload = life.workload
    owned = owner("apps/v1", "ReplicaSet", workload.replica_set_name, replica_set_uid)
    return {
        "metadata": {
            "name": life.name,
            "namespace": workload.namespace,
            "labels": pod_labels(workload),
            "annotations": annotations(),
            "ownerReferences": [owned],
        },
        "spec": {
            # With a node there is nothing to schedule: one write less, and no scheduler's work.
            "nodeName": workload.plan.node_names[life.node],
            **pod_spec(workload.shape),
        },
    }


def running(life: Life, *, now: float) -> Json:
    """The status of a pod all of whose containers have started and are ready."""
    shape, since = life.workload.shape, second(now)
    return {
        "phase": "Running",
        "qosClass": shape.quality,
        "hostIP": node_address(life.node),
        "hostIPs": [{"ip": node_address(life.node)}],
        "podIP": life.address,
        "podIPs": [{"ip": life.address}],
        "startTime": since,
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": since} for kind in CONDITIONS
        ],
        "containerStatuses": [
            _container_status(life, container, since) for container in shape.containers
        ],
    }


def container_id(life: Life, container: str) -> str:
    lived = f"{life.workload.namespace}/{life.name}/{container}"
    return f"containerd://{blake2b(lived.encode(), digest_size=32).hexdigest()}"


def _container_status(life: Life, container: Container, since: str) -> Json:
    digest = blake2b(container.image.encode(), digest_size=32).hexdigest()
    return {
        "name": container.name,
        "image": container.image,
        "imageID": f"{container.image.partition(':')[0]}@sha256:{digest}",
        "containerID": container_id(life, container.name),
        "ready": True,
        "started": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": since}},
    }
