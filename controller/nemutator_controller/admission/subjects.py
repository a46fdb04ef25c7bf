"""Who a pod in the making is: it may have no name yet, and its owner is what its owner says."""

from typing import Any

from nemutator_common.decisions import Subject

from nemutator_controller.admission.reviews import Request

_HASH = "pod-template-hash"


def subject_of(request: Request) -> Subject:
    """Of a request that creates a pod; what is not text in the object counts as absent."""
    metadata = _object(request.object, "metadata")
    owner_kind, owner_name = _owner(metadata)
    return Subject(
        api_version="v1",
        kind="Pod",
        namespace=request.namespace or _text(metadata, "namespace"),
        name=request.name or _text(metadata, "name"),
        generate_name=_text(metadata, "generateName"),
        uid=_text(metadata, "uid"),
        owner_kind=owner_kind,
        owner_name=owner_name,
    )


def is_mirror(request: Request) -> bool:
    """Whether kubelet shows us a static pod: what we changed there would be nowhere else."""
    annotations = _object(_object(request.object, "metadata"), "annotations")
    return "kubernetes.io/config.mirror" in annotations


def _owner(metadata: dict[str, Any]) -> tuple[str, str]:
    references = metadata.get("ownerReferences")
    for owner in references if isinstance(references, list) else ():
        if isinstance(owner, dict) and owner.get("controller") is True:
            kind, name = _text(owner, "kind"), _text(owner, "name")
            # Its ReplicaSet is one version of a Deployment, which names it by this hash.
            suffix = f"-{_text(_object(metadata, 'labels'), _HASH)}"
            if kind == "ReplicaSet" and len(suffix) > 1 and name.endswith(suffix):
                return "Deployment", name.removesuffix(suffix)
            return kind, name
    return "", ""


def _object(value: Any, field: str) -> dict[str, Any]:
    found = value.get(field) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: dict[str, Any], field: str) -> str:
    found = value.get(field)
    return found[:253] if isinstance(found, str) else ""
