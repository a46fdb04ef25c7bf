"""The cluster of `brain-scale`: which pod is where and whose, and objects with holes for that.

Everything follows from a pod's number, so the API server and the agents say the same of it without
a word between them, and neither keeps 150 000 pods.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

SIZES = (500, 2_000, 5_000)
"""Nodes of the clusters that are measured, so that the growth is seen."""
NODES = int(os.environ.get("BRAIN_SCALE_NODES", SIZES[-1]))
"""Each size is measured by processes of its own."""
PODS = int(os.environ.get("BRAIN_SCALE_PODS_OF_A_NODE", "30")) * NODES
PODS_PER_WORKLOAD = 15
WORKLOADS = PODS // PODS_PER_WORKLOAD
NAMESPACES = 300
AGENT = "system:serviceaccount:nemutator:nemutator-agent"
REPLICA_SETS = 6 * WORKLOADS
"""The present one of each Deployment, and five old ones."""

CONTAINERS = ("app", "proxy")
SUMMARY_S = 15.0

_HOLE = re.compile(r"@@(\w+)@@")


class Template:
    """Text with holes `@@name@@`, cut into pieces once."""

    def __init__(self, text: str) -> None:
        pieces = _HOLE.split(text)
        self._texts = [piece.encode() for piece in pieces[::2]]
        self._holes = pieces[1::2]

    def fill(self, values: Mapping[str, bytes]) -> bytes:
        parts = [self._texts[0]]
        for hole, text in zip(self._holes, self._texts[1:], strict=True):
            parts += (values[hole], text)
        return b"".join(parts)


def node_name(node: int) -> str:
    return f"node-{node}"


def pods_of(node: int) -> range:
    """Neighbours in a workload are on different nodes."""
    return range(node, PODS, NODES)


def uid(pod: int) -> str:
    return f"7b1c9a52-0000-4000-8000-{pod:012d}"


def container_id(pod: int, container: int) -> str:
    return f"{pod:08x}{container:02x}" * 6 + "0000"


def pods(first: int, end: int, version: int = 0) -> Iterator[bytes]:
    for pod in range(first, end):
        workload = pod // PODS_PER_WORKLOAD
        yield _POD.fill(
            {
                "pod": b"%d" % pod,
                "workload": b"%d" % workload,
                "namespace": b"%d" % (workload % NAMESPACES),
                "uid": uid(pod).encode(),
                "version": b"%d" % (version or pod + 1),
                "node": node_name(pod % NODES).encode(),
                "c0": container_id(pod, 0).encode(),
                "c1": container_id(pod, 1).encode(),
                # Some ask for more than others, so that not all containers are one.
                "milli": b"%d" % (50 + workload % 40 * 25),
            }
        )


def replica_sets(first: int, end: int) -> Iterator[bytes]:
    for number in range(first, end):
        age, workload = divmod(number, WORKLOADS)
        yield _REPLICA_SET.fill(
            {
                "workload": b"%d" % workload,
                "namespace": b"%d" % (workload % NAMESPACES),
                "age": b"%d" % age,
                "version": b"%d" % (number + 1),
            }
        )


def compact(manifest: object) -> str:
    return json.dumps(manifest, separators=(",", ":"))


def _padded(manifest: dict[str, Any], size: int) -> str:
    """*manifest* brought to *size* by managedFields, as real objects are."""
    fields: dict[str, Any] = {}
    manifest["metadata"]["managedFields"] = [{"manager": "kubelet", "fieldsV1": fields}]
    while len(compact(manifest)) < size:
        fields[f'k:{{"name":"item-{len(fields)}"}}'] = {".": {}, "f:value": {"f:ref": {}}}
    return compact(manifest)


def _pod() -> dict[str, Any]:
    def container(name: str, cpu: str) -> dict[str, Any]:
        return {
            "name": name,
            "image": f"registry.example/team-@@workload@@/{name}:v1.2.3",
            "resources": {"requests": {"cpu": cpu, "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
            "env": [{"name": f"VARIABLE_{number}", "value": "value"} for number in range(8)],
            "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets", "readOnly": True}],
        }

    return {
        "metadata": {
            "name": "app-@@workload@@-5d4f8c7b9-@@pod@@",
            "namespace": "team-@@namespace@@",
            "uid": "@@uid@@",
            "resourceVersion": "@@version@@",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"app": "app-@@workload@@", "pod-template-hash": "5d4f8c7b9"},
            "annotations": {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "controller": True,
                 "name": "app-@@workload@@-5d4f8c7b90", "uid": "rs-@@workload@@-0"}
            ],
        },
        "spec": {
            "nodeName": "@@node@@",
            "containers": [container("app", "@@milli@@m"), container("proxy", "100m")],
            "serviceAccountName": "app-@@workload@@",
            "schedulerName": "default-scheduler",
        },
        "status": {
            "phase": "Running",
            "qosClass": "Burstable",
            "startTime": "2026-01-01T00:00:00Z",
            "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
                for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
            ],
            "containerStatuses": [
                {"name": name, "ready": True, "restartCount": 0, "image": name,
                 "containerID": f"containerd://@@c{number}@@", "state": {"running": {}}}
                for number, name in enumerate(CONTAINERS)
            ],
        },
    }  # fmt: skip


def _replica_set() -> dict[str, Any]:
    return {
        "metadata": {
            "name": "app-@@workload@@-5d4f8c7b9@@age@@",
            "namespace": "team-@@namespace@@",
            "uid": "rs-@@workload@@-@@age@@",
            "resourceVersion": "@@version@@",
            "labels": {"app": "app-@@workload@@", "pod-template-hash": "5d4f8c7b9"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "controller": True,
                 "name": "app-@@workload@@", "uid": "d-@@workload@@"}
            ],
        }
    }  # fmt: skip


_POD = Template(_padded(_pod(), 6_000))
_REPLICA_SET = Template(_padded(_replica_set(), 1_500))
