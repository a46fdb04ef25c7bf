"""The verb `imagePullSecrets`: with which secrets of its namespace kubelet fetches a pod's images."""

from collections.abc import Iterator
from typing import Annotated

import msgspec

from nemutator_controller.mutations.chosen_names import ObjectName, is_name
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import field_path, named

VERB = "imagePullSecrets"

MOST = 16

Names = Annotated[tuple[ObjectName, ...], msgspec.Meta(max_length=MOST)]


class PullSecrets(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Names of secrets in the pod's namespace."""

    add: Names = ()
    remove: Names = ()


def apply(draft: Draft, secrets: PullSecrets, *, policy: str) -> list[str]:
    warnings: list[str] = []
    for name in secrets.remove:
        # A path leads to the first of several, so the others would stay.
        if _standing(draft).count(name) > 1:
            warnings.append(
                f"policy {policy}: {named(VERB, name)}: left alone: it stands there twice"
            )
        else:
            draft.put(named(VERB, name), (), Author(VERB, policy))
    for name in secrets.add:
        draft.set(named(VERB, name), {"name": name}, Author(VERB, policy))
    return warnings


def _standing(draft: Draft) -> list[object]:
    return [
        each.get("name")
        for listed in draft.value(field_path(VERB))
        for each in (listed if isinstance(listed, list) else ())
        if isinstance(each, dict)
    ]


def faults(secrets: PullSecrets) -> Iterator[str]:
    if not secrets.add and not secrets.remove:
        yield "add: name at least one here or in remove"
    for field, listed in (("add", secrets.add), ("remove", secrets.remove)):
        for index, name in enumerate(listed):
            if not is_name(name):
                yield f"{field}[{index}]: expected small letters, digits, dots and dashes"
    if set(secrets.add) & set(secrets.remove):
        yield "remove: the same name is added, too"
