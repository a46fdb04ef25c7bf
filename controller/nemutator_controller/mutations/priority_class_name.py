"""The verb `priorityClassName`: which pods give way to which.

The number that an API server has filled in from another class goes with its name (`edits.DERIVED`), and
the server fills in the right one.
"""

from nemutator_controller.mutations import chosen_names
from nemutator_controller.mutations.chosen_names import ChosenName
from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import field_path

VERB = "priorityClassName"

_FIELD = field_path(VERB)


def apply(draft: Draft, chosen: ChosenName, *, policy: str) -> None:
    chosen_names.write(draft, _FIELD, chosen, Author(VERB, policy))
