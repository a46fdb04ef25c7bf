"""Hollow nodes: the Node, its status and its Lease, as a kubelet writes them."""

import random
from typing import Any, Final

from nemutator_controller.kube.objects import Object
from nemutator_controller.kube.resources import Resource

from tests.hollow.moments import microsecond, second
from tests.hollow.plan import LABEL, Plan, node_address

Json = dict[str, Any]

NODES: Final = Resource("", "v1", "nodes", "Node", Object, namespaced=False)
LEASES: Final = Resource("coordination.k8s.io", "v1", "leases", "Lease", Object)
LEASE_NAMESPACE: Final = "kube-node-lease"
LEASE_S: Final = 40
"""What a kubelet promises; it renews after a quarter of that."""

SIZES = (
    ("standard-8", 8, 32),
    ("standard-16", 16, 64),
    ("standard-32", 32, 128),
    ("memory-16", 16, 128),
)
ZONES = ("zone-a", "zone-b", "zone-c")
VERSION = "v1.36.3"
WELL = {
    "MemoryPressure": ("False", "KubeletHasSufficientMemory"),
    "DiskPressure": ("False", "KubeletHasNoDiskPressure"),
    "PIDPressure": ("False", "KubeletHasSufficientPID"),
    "Ready": ("True", "KubeletReady"),
}


def node(plan: Plan, number: int) -> Json:
    name = plan.node_names[number]
    kind, _, _ = _size(plan, number)
    return {
        "metadata": {
            "name": name,
            "labels": {
                **plan.labels,
                "kubernetes.io/hostname": name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "node.kubernetes.io/instance-type": kind,
                "topology.kubernetes.io/region": "region-1",
                "topology.kubernetes.io/zone": ZONES[number % len(ZONES)],
            },
        },
        # Pods that are not hollow would be scheduled here, and wait for ever.
        "spec": {"taints": [{"key": LABEL, "value": plan.name, "effect": "NoSchedule"}]},
    }


def node_status(plan: Plan, number: int, *, ready_since: float, now: float) -> Json:
    _, cpus, memory_gib = _size(plan, number)
    room = {"ephemeral-storage": "200Gi", "hugepages-2Mi": "0", "pods": "110"}
    return {
        "capacity": {"cpu": str(cpus), "memory": f"{memory_gib}Gi", **room},
        "allocatable": {"cpu": f"{cpus * 1000 - 100}m", "memory": f"{memory_gib - 1}Gi", **room},
        "conditions": [
            {
                "type": kind,
                "status": status,
                "reason": reason,
                "message": "",
                "lastHeartbeatTime": second(now),
                "lastTransitionTime": second(ready_since),
            }
            for kind, (status, reason) in WELL.items()
        ],
        "addresses": [
            {"type": "InternalIP", "address": node_address(number)},
            {"type": "Hostname", "address": plan.node_names[number]},
        ],
        "nodeInfo": {
            "architecture": "amd64",
            "operatingSystem": "linux",
            "osImage": "Debian GNU/Linux 12 (bookworm)",
            "kernelVersion": "6.1.0",
            "containerRuntimeVersion": "containerd://2.0.0",
            "kubeletVersion": VERSION,
            "kubeProxyVersion": "",
            "machineID": f"{number:032x}",
            "systemUUID": f"{number:032x}",
            "bootID": f"{number:032x}",
        },
    }


def lease(plan: Plan, number: int, *, node_uid: str, now: float) -> Json:
    name = plan.node_names[number]
    return {
        "metadata": {
            "name": name,
            "labels": plan.labels,
            "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node_uid}
            ],
        },
        "spec": {"holderIdentity": name, "leaseDurationSeconds": LEASE_S, **renewed(now)},
    }


def renewed(now: float) -> Json:
    """What a renewal changes of a Lease's spec."""
    return {"renewTime": microsecond(now)}


def _size(plan: Plan, number: int) -> tuple[str, int, int]:
    return random.Random(f"{plan.seed}/node/{number}").choice(SIZES)
