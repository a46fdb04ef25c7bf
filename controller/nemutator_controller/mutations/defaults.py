"""What an API server adds to a pod before any webhook sees it, as far as a verb depends on it."""

from nemutator_controller.mutations.edits import Writing
from nemutator_controller.mutations.paths import FieldStep, Json, Path, named, value_at

REQUESTED = ("cpu", "memory", "ephemeral-storage")

_LISTS = ("containers", "initContainers")


def defaulted(manifest: Json, kind: str) -> Json:
    """*manifest* with a request for each limit that has none, as `SetDefaults_Pod` of Kubernetes.

    A manifest that a person wrote has not been through it, so a share would be taken of nothing.
    """
    writing = Writing(manifest, kind)
    for field in _LISTS:
        for listed in value_at(manifest, Path((FieldStep(field),)), kind):
            for container in listed or ():
                name = container.get("name") if isinstance(container, dict) else None
                if isinstance(name, str):
                    _request_limits(writing, named(field, name) / FieldStep("resources"), kind)
    return writing.manifest


def _request_limits(writing: Writing, resources: Path, kind: str) -> None:
    for resource in REQUESTED:
        limit = value_at(
            writing.manifest, resources / FieldStep("limits") / FieldStep(resource), kind
        )
        request = resources / FieldStep("requests") / FieldStep(resource)
        if limit and not value_at(writing.manifest, request, kind):
            writing.write(request, limit)
