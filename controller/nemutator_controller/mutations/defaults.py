"""What an API server adds to a pod before any webhook sees it, as far as verbs depend on it."""

from nemutator_controller.mutations.edits import Writing
from nemutator_controller.mutations.paths import Json, Path, field_path, named, value_at
from nemutator_controller.mutations.qos import LISTS

REQUESTED = ("cpu", "memory", "ephemeral-storage")


def defaulted(manifest: Json, kind: str) -> Json:
    """*manifest* with a request for each limit that has none, as `SetDefaults_Pod` of Kubernetes does.

    A manifest that a person wrote has not been through it, and a share of nothing is nothing.
    """
    writing = Writing(manifest, kind)
    for field in LISTS:
        for listed in value_at(manifest, field_path(field), kind):
            for container in listed or ():
                name = container.get("name") if isinstance(container, dict) else None
                if isinstance(name, str):
                    _request_limits(writing, named(field, name) / "resources", kind)
    return writing.manifest


def _request_limits(writing: Writing, resources: Path, kind: str) -> None:
    for resource in REQUESTED:
        limit = value_at(writing.manifest, resources / "limits" / resource, kind)
        request = resources / "requests" / resource
        if limit and not value_at(writing.manifest, request, kind):
            writing.write(request, limit)
