"""The verb `imagePullPolicy`: whether kubelet asks the registry each time that a container starts."""

from typing import Literal

import msgspec

from nemutator_controller.mutations.chosen_containers import Globs, chosen
from nemutator_controller.mutations.edits import Author, Draft

VERB = "imagePullPolicy"


class PullPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    set: Literal["Always", "IfNotPresent", "Never"]
    containers: Globs = ("*",)


def apply(draft: Draft, wanted: PullPolicy, *, policy: str) -> None:
    for path, _ in chosen(draft, wanted.containers):
        draft.set(path / VERB, wanted.set, Author(VERB, policy))
