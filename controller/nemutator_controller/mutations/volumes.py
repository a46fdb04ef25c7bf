"""The verb `volumes`: files of a ConfigMap or Secret in containers, such as certificates."""

import posixpath
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec

from nemutator_controller.mutations.chosen_containers import Globs, chosen
from nemutator_controller.mutations.chosen_names import ObjectName, is_name
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import ItemStep, named

VERB = "volumes"

MOST = 16
LABEL = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
MOUNT_PATH = r"^/[^:\\]*$"


class MountedVolume(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename="camel"
):
    """Exactly one of `configMap` and `secret`."""

    name: Annotated[str, msgspec.Meta(pattern=LABEL, max_length=63)]
    config_map: ObjectName | None = None
    secret: ObjectName | None = None
    mount_path: Annotated[str, msgspec.Meta(pattern=MOUNT_PATH, max_length=1024)]

    def in_a_pod(self) -> Any:
        if self.config_map:
            return {"name": self.name, "configMap": {"name": self.config_map}}
        return {"name": self.name, "secret": {"secretName": self.secret}}


class MountedVolumes(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    add: Annotated[tuple[MountedVolume, ...], msgspec.Meta(min_length=1, max_length=MOST)]
    """Mounted to be read only."""
    containers: Globs = ("*",)


def apply(draft: Draft, wanted: MountedVolumes, *, policy: str) -> list[str]:
    author = Author(VERB, policy)
    warnings: list[str] = []
    for each in wanted.add:
        path, volume = named(VERB, each.name), each.in_a_pod()
        found = draft.value(path)
        if found and not _is_from(found[0], volume):
            warnings.append(f"policy {policy}: {path}: left alone: the pod has another one")
            continue
        if not found:
            draft.set(path, volume, author)
            if not draft.value(path):
                continue  # Somebody has taken it back for this workload.
        for container, document in list(chosen(draft, wanted.containers)):
            mount = container / "volumeMounts" / ItemStep("mountPath", each.mount_path)
            if within := _within(each.mount_path, document):
                why = f"left alone: {within[:120]} is in it, which could not be made there"
                warnings.append(f"policy {policy}: {mount}: {why}")
            elif not _is_taken(each.mount_path, document):
                made = {"name": each.name, "mountPath": each.mount_path, "readOnly": True}
                draft.set(mount, made, author)
    return warnings


def faults(wanted: MountedVolumes) -> Iterator[str]:
    for index, each in enumerate(wanted.add):
        if (each.config_map is None) == (each.secret is None):
            yield f"add[{index}]: expected exactly one of configMap, secret"
        elif not is_name(each.config_map or each.secret or ""):
            yield f"add[{index}]: expected small letters, digits, dots and dashes"


def _is_taken(path: str, container: Any) -> bool:
    return any(_plain(other) == _plain(path) for other in _taken(container))


def _within(path: str, container: Any) -> str:
    """What the container has below *path*: a runtime makes its folder there, and what we mount is read only."""
    below = f"{_plain(path).rstrip('/')}/"
    return next((each for each in _taken(container) if _plain(each).startswith(below)), "")


def _taken(container: Any) -> Iterator[str]:
    """Where something is in the container already."""
    for field, key in (("volumeMounts", "mountPath"), ("volumeDevices", "devicePath")):
        listed = container.get(field)
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, dict) and isinstance(where := each.get(key), str):
                yield where


def _plain(path: str) -> str:
    """Without what leads to the same place: `/a/` and `/a/b/..` are `/a`."""
    return posixpath.normpath(f"/{path.lstrip('/')}")


def _is_from(found: Any, volume: Any) -> bool:
    """Whether *found* has the same source; the API server adds a mode to it."""
    return isinstance(found, dict) and all(
        isinstance(source := found.get(field), dict) and source | wanted == source
        for field, wanted in volume.items()
        if field != "name"
    )
