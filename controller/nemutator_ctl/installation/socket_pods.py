"""Pods that have a socket of the agent, and the workloads that would make them anew without one."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nemutator_common import names

Json = Mapping[str, Any]

HASH = "pod-template-hash"
RESTARTED = {"Deployment": "deployments", "StatefulSet": "statefulsets", "DaemonSet": "daemonsets"}
MOST_SHOWN = 20


@dataclass(frozen=True, slots=True, order=True)
class Restartable:
    namespace: str
    kind: str
    name: str

    @property
    def command(self) -> str:
        if self.kind in RESTARTED:
            return f"kubectl -n {self.namespace} rollout restart {self.kind.lower()}/{self.name}"
        return f"kubectl -n {self.namespace} delete {self.kind.lower()}/{self.name}"


def with_socket(pods: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those whose volume kubelet still has: it unmounts that of a pod that has ended."""
    return [
        pod
        for pod in pods
        if (pod.get("status") or {}).get("phase") not in ("Succeeded", "Failed")
        and any(
            (volume.get("csi") or {}).get("driver") == str(names.CSI_DRIVER)
            for volume in pod["spec"].get("volumes") or ()
        )
    ]


def owners(pods: Iterable[Json]) -> Counter[Restartable]:
    """What to make anew, with the number of its pods."""
    return Counter(map(_owner, pods))


def commands(pods: Iterable[Json]) -> list[str]:
    found = sorted(owners(pods))
    more = [f"and {len(found) - MOST_SHOWN} more"] if len(found) > MOST_SHOWN else []
    return [each.command for each in found[:MOST_SHOWN]] + more


def _owner(pod: Json) -> Restartable:
    metadata = pod["metadata"]
    namespace = metadata["namespace"]
    for each in metadata.get("ownerReferences") or ():
        if not each.get("controller"):
            continue
        if each["kind"] == "ReplicaSet" and (hashed := (metadata.get("labels") or {}).get(HASH)):
            return Restartable(namespace, "Deployment", each["name"].removesuffix(f"-{hashed}"))
        if each["kind"] in RESTARTED or each["kind"] == "Job":
            return Restartable(namespace, each["kind"], each["name"])
    return Restartable(namespace, "Pod", metadata["name"])
