"""Whether a workload stands as it was asked for, by the rules of `kubectl rollout status`; and why not."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]

MOST_TROUBLES = 5


def unready(document: Json) -> str:
    """What is still missing; empty when nothing is."""
    kind, spec = document["kind"], document.get("spec") or {}
    status = document.get("status") or {}
    if kind == "CustomResourceDefinition":
        return "" if _is_established(status) else "not established yet"
    if status.get("observedGeneration", 0) < document["metadata"].get("generation", 0):
        return "not seen by its controller yet"
    if kind == "DaemonSet":
        wanted = status.get("desiredNumberScheduled", 0)
        updated, ready = status.get("updatedNumberScheduled", 0), status.get("numberAvailable", 0)
        left = 0
    else:
        wanted = spec.get("replicas", 1)
        updated = status.get("updatedReplicas", 0)
        ready = status.get("readyReplicas" if kind == "StatefulSet" else "availableReplicas", 0)
        left = max(status.get("replicas", 0) - updated, 0) if kind == "Deployment" else 0
    if updated < wanted:
        return f"{updated} of {wanted} are of the new version"
    if left:
        return f"{left} of the old version are left"
    return "" if ready >= wanted else f"{ready} of {wanted} are ready"


def troubles(pods: Iterable[Json]) -> list[str]:
    """What holds *pods* up, the first few of it: images that are not there, containers that end."""
    found = [line for pod in pods for line in _of_pod(pod)]
    more = len(found) - MOST_TROUBLES
    return found[:MOST_TROUBLES] + ([f"and {more} more"] if more > 0 else [])


def _of_pod(pod: Json) -> Iterator[str]:
    name, status = pod["metadata"]["name"], pod.get("status") or {}
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            yield f"pod {name}: {condition.get('message') or condition.get('reason')}"
    for container in status.get("containerStatuses") or ():
        waiting = (container.get("state") or {}).get("waiting")
        if waiting and waiting.get("reason") not in (None, "ContainerCreating", "PodInitializing"):
            said = f": {waiting['message']}" if waiting.get("message") else ""
            yield f"pod {name}, {container['name']}: {waiting['reason']}{said}"


def _is_established(status: Json) -> bool:
    return any(
        each.get("type") == "Established" and each.get("status") == "True"
        for each in status.get("conditions") or ()
    )
