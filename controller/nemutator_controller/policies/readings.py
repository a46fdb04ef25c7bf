"""What of a pod its plan cannot depend on, by the policies that may be for it.

A further revision of a workload differs from the one before in names, images and the like. Where no policy can read
them, its pods are planned for as those before were.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.pod_sizes import MOST_ITEMS
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

UNREAD = frozenset(
    [
        "env",
        "image",
        "lifecycle",
        "livenessProbe",
        "ports",
        "readinessProbe",
        "startupProbe",
    ]
)
"""Fields of a container that neither they nor the injection read, which reads images and variables only of a pod that
declares variables."""

_LISTS = ("containers", "initContainers")


@dataclass(frozen=True, slots=True)
class UnreadFields:
    """What is not read of any pod that some policies may be for."""

    is_any: bool
    """Whether anything is left out: of containers `UNREAD`, and values of labels."""
    pod_names: bool
    """The name of a pod that a workload has made."""
    but_labels: frozenset[str]
    """Keys of labels whose values are read; of others only the keys are."""

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

    def spec_of(self, spec: Mapping[str, Any]) -> Mapping[str, Any]:
        """The same of a pod's spec."""
        if not self.is_any:
            return spec
        read = dict(spec)
        for field in _LISTS:
            listed = spec.get(field)
            if isinstance(listed, list):
                read[field] = [_read(each) for each in listed]
        return read


def needs_all(annotations: Any) -> bool:
    """Whether a pod with these *annotations* has more read of it: its commands and images, for variables that it
    declares, and whatever our stamp says that we have written."""
    return isinstance(annotations, dict) and any(
        key.startswith(names.ENVIRONMENT_PREFIX) or key == names.MUTATION for key in annotations
    )


EVERYTHING = UnreadFields(is_any=False, pod_names=False, but_labels=frozenset())
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
    return UnreadFields(
        is_any=True,
        pod_names=not any(each.names or each.excluded_names for each in matches),
        but_labels=frozenset(named),
    )


def _read(container: Any) -> Any:
    if type(container) is not dict or container.get("name") == INIT_CONTAINER:
        return container
    return {
        field: value
        for field, value in container.items()
        if field not in UNREAD or (type(value) is list and len(value) > MOST_ITEMS)
    }
