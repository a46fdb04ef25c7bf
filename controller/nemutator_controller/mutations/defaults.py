"""What an API server adds to a pod before any webhook sees it, as far as verbs and conditions depend on it."""

from collections.abc import Mapping

from nemutator_controller.kube.quantities import Quantity
from nemutator_controller.mutations.image_references import usual_pull_policy
from nemutator_controller.mutations.object_writes import Writing
from nemutator_controller.mutations.paths import (
    Json,
    Path,
    field_path,
    named,
    template_of,
    value_at,
)
from nemutator_controller.mutations.qos import LISTS, quantity
from nemutator_controller.mutations.resource_bounds import SIDES

_MILLI = 10**6

_OF_A_POD: Mapping[str, Json] = {
    "dnsPolicy": "ClusterFirst",
    "enableServiceLinks": True,
    "restartPolicy": "Always",
    "schedulerName": "default-scheduler",
    "serviceAccountName": "default",
    "terminationGracePeriodSeconds": 30,
}
_OF_A_CONTAINER: Mapping[str, Json] = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}


def defaulted(manifest: Json, kind: str) -> Json:
    """*manifest* as `SetDefaults_Pod` of Kubernetes makes it, with a request for each limit that has none.

    A manifest that a person wrote has not been through it, and a share of nothing is nothing.
    """
    template = template_of(manifest, kind)
    if not isinstance(template, dict) or not isinstance(template.get("spec"), dict):
        return manifest
    writing = Writing(manifest, kind)
    for default, value in _OF_A_POD.items():
        _add(writing, field_path(default), value, kind)
    for listed in value_at(manifest, field_path("volumes"), kind):
        for volume in listed or ():
            name = volume.get("name") if isinstance(volume, dict) else None
            if isinstance(name, str) and not any(
                value is not None for key, value in volume.items() if key != "name"
            ):
                writing.write(named("volumes", name) / "emptyDir", ({},))
    for field in LISTS:
        for listed in value_at(manifest, field_path(field), kind):
            for container in listed or ():
                name = container.get("name") if isinstance(container, dict) else None
                if isinstance(name, str):
                    _of_container(writing, named(field, name), container, kind)
    return writing.manifest


def _of_container(writing: Writing, path: Path, container: Json, kind: str) -> None:
    image = container.get("image")
    if isinstance(image, str) and image:
        _add(writing, path / "imagePullPolicy", usual_pull_policy(image), kind)
    for name, value in _OF_A_CONTAINER.items():
        _add(writing, path / name, value, kind)
    resources = path / "resources"
    for side in SIDES:
        for section in value_at(writing.manifest, resources / side, kind):
            for resource, amount in (section or {}).items():
                if (text := _in_millis(amount)) is not None:
                    writing.write(resources / side / str(resource), (text,))
    for limits in value_at(writing.manifest, resources / "limits", kind):
        for resource, limit in (limits or {}).items():
            if limit is not None:
                _add(writing, resources / "requests" / str(resource), limit, kind)


def _in_millis(amount: Json) -> str | None:
    """An *amount* that is finer, rounded up; None: it stays as it is written."""
    found = quantity(amount)
    if found is None or not found.nanos % _MILLI:
        return None
    return str(Quantity(-(-found.nanos // _MILLI) * _MILLI, found.format))


def _add(writing: Writing, path: Path, value: Json, kind: str) -> None:
    if value_at(writing.manifest, path, kind) in ((), (None,)):
        writing.write(path, (value,))
