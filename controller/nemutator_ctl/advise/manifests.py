"""Advice as parts of manifests that `kubectl apply --server-side` takes, and owners of templates in Git: pure."""

from collections.abc import Sequence
from typing import Any

from nemutator_ctl.advise.view import AdviceRow

_API_VERSIONS = {
    "Deployment": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "ReplicaSet": "apps/v1",
    "CronJob": "batch/v1",
    "Rollout": "argoproj.io/v1alpha1",
}


def manifest_parts(rows: Sequence[AdviceRow]) -> tuple[list[dict[str, Any]], int]:
    """One part for each workload with firm advice, and how many rows have none that could be written so."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    left = 0
    for row in rows:
        resources = _resources(row)
        if row.state != "firm" or row.owner_kind not in _API_VERSIONS or not resources:
            left += 1
            continue
        containers = found.setdefault((row.namespace, row.owner_kind, row.owner), [])
        containers.append({"name": row.container, "resources": resources})
    return [_part(*workload, containers) for workload, containers in sorted(found.items())], left


def _part(namespace: str, kind: str, name: str, containers: list[dict[str, Any]]) -> dict[str, Any]:
    spec: dict[str, Any] = {"template": {"spec": {"containers": containers}}}
    if kind == "CronJob":
        spec = {"jobTemplate": {"spec": spec}}
    return {
        "apiVersion": _API_VERSIONS[kind],
        "kind": kind,
        "metadata": {"name": name, "namespace": namespace},
        "spec": spec,
    }


def _resources(row: AdviceRow) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for side, amounts in (("requests", row.requests), ("limits", row.limits)):
        given = {"cpu": amounts.cpu, "memory": amounts.memory}
        known = {name: text for name, text in given.items() if text is not None}
        if known:
            found[side] = known
    return found
