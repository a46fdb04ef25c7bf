"""The verb `enableServiceLinks`: whether containers get a variable for each service of their namespace."""

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import field_path
from nemutator_controller.mutations.switches import Switch

VERB = "enableServiceLinks"


def apply(draft: Draft, wanted: Switch, *, policy: str) -> None:
    draft.set(field_path(VERB), wanted.set, Author(VERB, policy))
