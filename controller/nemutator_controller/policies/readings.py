"""What of a pod its plan depends on, by the policies that may be for it.

A further revision of a workload differs from the one before in names, images and the like, and another workload in more
of them. Where no policy can read them, its pods are planned for as those before were.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from nemutator_common import names

from nemutator_controller.mutations import (
    annotations,
    labels,
    node_selector,
    priority_class_name,
    resources,
    scheduler_name,
    tolerations,
)
from nemutator_controller.mutations.injection import DIRECTORY_NAME, INIT_CONTAINER, VOLUME
from nemutator_controller.mutations.pod_sizes import MOST_ITEMS
from nemutator_controller.mutations.resources import ContainerResources, Sizing
from nemutator_controller.policies.model import Policy

NEAR = frozenset(
    [
        annotations.VERB,
        labels.VERB,
        node_selector.VERB,
        priority_class_name.VERB,
        resources.VERB,
        scheduler_name.VERB,
        tolerations.VERB,
    ]
)
"""Verbs that read of a container nothing but its name and its amounts, and of labels those that they name."""

_LISTS = ("containers", "initContainers")

READ = frozenset(["name", "resources", "restartPolicy", "securityContext", "volumeMounts"])
"""Fields of a container that they or the injection read, which reads images, commands and variables only of a pod
that declares variables."""

READ_OF_SPEC = frozenset(
    [
        *_LISTS,
        "nodeSelector",
        "os",
        "overhead",
        "preemptionPolicy",
        "priority",
        "priorityClassName",
        "resources",
        "runtimeClassName",
        "schedulerName",
        "securityContext",
        "tolerations",
        "volumes",
    ]
)
"""The same of a pod's spec."""


@dataclass(frozen=True, slots=True)
class UnreadFields:
    """What is not read of any pod that some policies may be for."""

    is_any: bool
    """Whether anything is left out: all but `READ` and `READ_OF_SPEC`, and values of labels."""
    pod_names: bool
    """The name of a pod that a workload has made."""
    workload: bool
    """Which workload has made a pod."""
    container_names: bool
    """What containers are called, if each has a name of its own."""
    but_labels: frozenset[str]
    """Keys of labels whose values are read; of others only the keys are."""
    amounts: bool = False
    """What containers ask for, but for what *sizing* reads, and the init container of an injection."""
    sizing: Sizing | None = field(default=None, compare=False)
    """What makes other amounts, of all that may; None: nothing."""

    def metadata_of(self, metadata: Mapping[str, Any], *, owned: bool) -> Mapping[str, Any]:
        """What is read of *metadata*; *owned*: by a workload, which is known beside it."""
        read = dict(metadata)
        # These are times, and nobody here reads them.
        read.pop("managedFields", None)
        if owned and self.pod_names:
            for name in ("generateName", "name", "ownerReferences"):
                read.pop(name, None)
        labels = read.get("labels")
        if isinstance(labels, dict) and self.is_any:
            read["labels"] = {
                key: text if key in self.but_labels or type(text) is not str else ""
                for key, text in labels.items()
            }
        return read

    def spec_of(
        self,
        spec: Mapping[str, Any],
        *,
        but_names: bool = False,
        shapes: Iterable[object] | None = None,
    ) -> Mapping[str, Any]:
        """The same of a pod's spec; *but_names*: those of containers are left out, too. *shapes*: what is read in the
        place of the amounts of each container."""
        if not self.is_any:
            return spec
        read = {
            field: value
            for field, value in spec.items()
            if field in READ_OF_SPEC or (type(value) is list and len(value) > MOST_ITEMS)
        }
        fields = READ_BUT_NAMES if but_names else READ
        each_shape = None if shapes is None else iter(shapes)
        for each_list in _LISTS:
            listed = spec.get(each_list)
            if type(listed) is list:
                read[each_list] = [_read(each, fields) for each in listed]
                if each_shape is not None:
                    for each in read[each_list]:
                        each["resources"] = next(each_shape)
        volumes = spec.get("volumes")
        if type(volumes) is list:
            read["volumes"] = [_read_volume(each) for each in volumes]
        return read


def needs_all(annotations: Any) -> bool:
    """Whether a pod with these *annotations* has more read of it: its commands and images, for variables that it
    declares, and whatever our stamp says that we have written."""
    return isinstance(annotations, dict) and any(
        key.startswith(names.ENVIRONMENT_PREFIX) or key == names.MUTATION for key in annotations
    )


def names_a_container(annotations: Any) -> bool:
    """Whether one of a pod's *annotations* may."""
    return isinstance(annotations, dict) and any(
        key.startswith(str(names.ON_ROTATE)) for key in annotations
    )


READ_BUT_NAMES = READ - {"name"}

EVERYTHING = UnreadFields(
    is_any=False, pod_names=False, workload=False, container_names=False, but_labels=frozenset()
)
"""It is read."""


def unread_by(policies: Iterable[Policy]) -> UnreadFields:
    possible = tuple(policies)
    actions = [action for each in possible for action in (*each.first, *each.actions)]
    if (
        any(action.verb not in NEAR for action in actions)
        or any(each.conditions or each.tokens or each.spec.match.images for each in possible)
    ):  # fmt: skip
        return EVERYTHING
    matches = [each.spec.match for each in possible]
    named = {str(names.INJECT)} | {one.key for each in possible for one in each.pods.requirements}
    for each in possible:
        for mutation in each.spec.mutations:
            if (texts := mutation.labels) is not None:
                named |= {*texts.set, *texts.add, *texts.remove}
    sizes = [sized for each in possible for sized in _sizes_of(each)]
    sizings = [action.sizing for action in actions if action.sizing is not None]
    return UnreadFields(
        is_any=True,
        # What is only shown of one pod may be shown of another one that asks for more.
        amounts=len(sizes) == len(sizings) <= 1
        and not any(each.spec.mode == "Preview" for each in possible if [*_sizes_of(each)]),
        sizing=next(iter(sizings), None),
        pod_names=not (
            names_are_read := any(each.names or each.excluded_names for each in matches)
        ),
        workload=not names_are_read and not any(map(_reads_workload, possible)),
        container_names=all(sized.containers == ("*",) for sized in sizes),
        but_labels=frozenset(named),
    )


def write_amounts(policies: Iterable[Policy]) -> bool:
    """Whether any of them says what containers ask for: only then it matters what there is room for."""
    return any(True for each in policies for _ in _sizes_of(each))


def _sizes_of(policy: Policy) -> Iterator[ContainerResources]:
    return (each.resources for each in policy.spec.mutations if each.resources is not None)


def _reads_workload(policy: Policy) -> bool:
    match = policy.spec.match
    return bool(
        policy.alone
        or match.owner_kinds
        or match.percent is not None
        or any(map(resources.follows_advice, _sizes_of(policy)))
    )


def _read(container: Any, fields: frozenset[str]) -> Any:
    if type(container) is not dict or container.get("name") == INIT_CONTAINER:
        return container
    read = {
        field: value
        for field, value in container.items()
        if field in fields or (type(value) is list and len(value) > MOST_ITEMS)
    }
    mounts = container.get("volumeMounts")
    if type(mounts) is list and len(mounts) <= MOST_ITEMS:
        read["volumeMounts"] = [each for each in mounts if not _is_elsewhere(each)] or bool(mounts)
    return read


def _is_elsewhere(mount: Any) -> bool:
    """Whether it is mounted nowhere near our directory."""
    path = mount.get("mountPath") if type(mount) is dict else None
    return type(path) is str and DIRECTORY_NAME not in path


def _read_volume(volume: Any) -> Any:
    """Of most volumes nothing is read but that they are there."""
    is_other = type(volume) is dict and "csi" not in volume and volume.get("name") != VOLUME
    return True if is_other else volume
