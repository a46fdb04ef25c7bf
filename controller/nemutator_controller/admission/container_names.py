"""What the containers of a pod are called, and the plan of a pod whose containers are called otherwise.

Where no policy reads their names, pods that differ in nothing else are planned for once: what is written into a container is the
same, and is found by another name.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.operations import Operation

ContainerNames = tuple[str, ...]

_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
"""What the API server lets in, which stands in paths and patches as it is."""

_IN_A_CONTAINER = re.compile(r"((?:initC|c)ontainers\[name=)([-a-z0-9]+)(\].*)", re.DOTALL)
_TESTED = re.compile(r"/spec/(?:initC|c)ontainers/[0-9]+/name")


def container_names(spec: Mapping[str, Any]) -> ContainerNames | None:
    """In their order; None: not each has a name of its own, or one is called as ours."""
    found: list[str] = []
    for field in ("containers", "initContainers"):
        listed = spec.get(field)
        for each in listed if type(listed) is list else ():
            name = each.get("name") if type(each) is dict else None
            if type(name) is not str or not _NAME.fullmatch(name) or name == INIT_CONTAINER:
                return None
            found.append(name)
    return tuple(found) if len(set(found)) == len(found) else None


def renamed_edits(edits: Sequence[Edit], to: Mapping[str, str]) -> tuple[Edit, ...]:
    """*edits* of containers that are called otherwise: *to* has the new name by each old one."""
    return tuple([_renamed(edit, to) for edit in edits])


def renamed_operations(
    operations: Sequence[Operation], to: Mapping[str, str]
) -> tuple[Operation, ...]:
    """The same for a patch, which has names in its tests alone: all else is found by its index."""
    return tuple(
        [
            {**each, "value": to.get(each["value"], each["value"])}
            if each["op"] == "test" and _TESTED.fullmatch(each["path"])
            else each
            for each in operations
        ]
    )


def _renamed(edit: Edit, to: Mapping[str, str]) -> Edit:
    found = _IN_A_CONTAINER.fullmatch(edit.path)
    name = to.get(found[2]) if found else None
    if found is None or name is None or name == found[2]:
        return edit
    return replace(edit, path=f"{found[1]}{name}{found[3]}")
