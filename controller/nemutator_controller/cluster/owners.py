"""The workload that makes a pod, from the pod alone: admission and the brain name it alike.

A pod names the object that made it, and for most that is one version of a workload or one run of
it, which goes while the workload stays. Those are named after their workload by the controllers
that make them. Admission knows nothing more: a Job and its pod are made within milliseconds, long
before any watch could report that Job.
"""

import re
from collections.abc import Mapping
from typing import Any

_BY_TEMPLATE = {
    "pod-template-hash": "Deployment",
    "rollouts-pod-template-hash": "Rollout",
}
"""Labels with the hash that a ReplicaSet is called by, after its workload's name."""

_RUN = re.compile(r"(?P<name>.{1,52})-(?P<minute>[0-9]{8})")
"""What the CronJob controller calls a Job: a CronJob's name has 52 characters at most."""

_MINUTE_OF_2020 = 26_297_280
"""Since 1970. Below it are the dates that people write at the end of a Job's name (20261231)."""


def workload(kind: str, name: str, labels: Mapping[str, Any]) -> tuple[str, str]:
    """Kind and name of the workload behind the owner *kind* *name* of a pod with *labels*."""
    if kind == "ReplicaSet":
        for label, above in _BY_TEMPLATE.items():
            suffix = f"-{labels.get(label) or ''}"
            if len(suffix) > 1 and name.endswith(suffix):
                return above, name.removesuffix(suffix)
    if kind == "Job" and (run := _RUN.fullmatch(name)) and int(run["minute"]) >= _MINUTE_OF_2020:
        return "CronJob", run["name"]
    return kind, name


def owner_of(pod: Any) -> tuple[str, str]:
    """The same for a whole *pod* as it was decoded; both empty when nobody manages it."""
    metadata = _map(_map(pod).get("metadata"))
    references = metadata.get("ownerReferences")
    for owner in map(_map, references if isinstance(references, list) else ()):
        if owner.get("controller") is True:
            kind, name = (_text(owner.get(field)) for field in ("kind", "name"))
            return workload(kind, name, _map(metadata.get("labels")))
    return "", ""


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    return value[:253] if isinstance(value, str) else ""
