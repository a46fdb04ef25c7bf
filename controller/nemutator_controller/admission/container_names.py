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
            if type(name) is not str:
                return None
            found.append(name)
    return tuple(found) if are_names(found) else None


def are_names(names: Sequence[str]) -> bool:
    """Whether containers may be called so, each otherwise."""
    for name in names:
        if not _NAME.fullmatch(name) or name == INIT_CONTAINER:
            return False
    return len(set(names)) == len(names)


class NamePlaces:
    """Where a plan has the names of containers: in the paths of edits, and in the tests of its patch, in which all else is
    found by its index."""

    __slots__ = ("_paths", "_tests")

    def __init__(
        self, edits: Sequence[Edit], operations: Sequence[Operation], names: ContainerNames
    ) -> None:
        at = {name: index for index, name in enumerate(names)}
        self._paths = tuple(
            (index, at[found[2]], found[1], found[3])
            for index, edit in enumerate(edits)
            if (found := _IN_A_CONTAINER.fullmatch(edit.path)) and found[2] in at
        )
        self._tests = tuple(
            (index, at[each["value"]])
            for index, each in enumerate(operations)
            if each["op"] == "test" and _TESTED.fullmatch(each["path"]) and each["value"] in at
        )

    def rename(self, edits: list[Edit], operations: list[Operation], names: ContainerNames) -> None:
        """Write other *names* into *edits* and *operations*, which are those of the plan otherwise."""
        for index, at, before, behind in self._paths:
            edits[index] = replace(edits[index], path=f"{before}{names[at]}{behind}")
        for index, at in self._tests:
            operations[index] = {**operations[index], "value": names[at]}
