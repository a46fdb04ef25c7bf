"""Which pod a request is about: it may have no name yet, and its references name its owner."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nemutator_controller.admission.reviews import AdmissionRequest
from nemutator_controller.cluster.owners import owner_of
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.mutations.paths import WORKLOADS

LONGEST = 253
"""Characters of a name in Kubernetes. Longer ones are cut, because globs are matched against them."""


def subject_of(request: AdmissionRequest, head: dict[str, Any]) -> Subject:
    """The subject of a request that creates a pod with this *head*; a field that is not text is absent."""
    metadata = _object(head, "metadata")
    owner_kind, owner_name = owner_of(head)
    return Subject(
        api_version="v1",
        kind="Pod",
        namespace=(request.namespace or "")[:LONGEST] or _text(metadata, "namespace"),
        name=(request.name or "")[:LONGEST] or _text(metadata, "name"),
        generate_name=_text(metadata, "generateName"),
        uid=_text(metadata, "uid"),
        owner_kind=owner_kind,
        owner_name=owner_name,
    )


def workload_subject(request: AdmissionRequest, head: dict[str, Any]) -> Subject:
    """The same for a workload, which is its own owner: what holds for it holds for its pods."""
    subject = subject_of(request, head)
    resource = request.resource
    return replace(
        subject,
        api_version=f"{resource.group}/{resource.version}",
        kind=request.workload,
        owner_kind=request.workload,
        owner_name=subject.name,
    )


def is_made_by_workload(head: dict[str, Any]) -> bool:
    """Whether another workload has made it, as a CronJob its Jobs: then that one's template counts."""
    return owner_of(head)[0] in WORKLOADS


def is_mirror(head: Mapping[str, Any]) -> bool:
    """Whether kubelet mirrors a static pod, which we could change in its mirror only."""
    annotations = _object(_object(head, "metadata"), "annotations")
    return "kubernetes.io/config.mirror" in annotations


def _object(value: Any, field: str) -> dict[str, Any]:
    found = value.get(field) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: dict[str, Any], field: str) -> str:
    found = value.get(field)
    return found[:LONGEST] if isinstance(found, str) else ""
