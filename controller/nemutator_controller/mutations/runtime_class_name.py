"""The verb `runtimeClassName`: which runtime starts a pod's containers."""

from nemutator_controller.mutations import chosen_names
from nemutator_controller.mutations.chosen_names import ChosenName
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import field_path

VERB = "runtimeClassName"

_FIELD = field_path(VERB)


def apply(draft: Draft, chosen: ChosenName, *, policy: str) -> None:
    chosen_names.write(draft, _FIELD, chosen, Author(VERB, policy))
