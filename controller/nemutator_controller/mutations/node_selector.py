"""The verb `nodeSelector`: on which nodes a pod may run, by labels that they must have."""

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import FieldStep, KeyStep, Path
from nemutator_controller.mutations.texts import Texts, write

VERB = "nodeSelector"

_FIELD = FieldStep(VERB)


def apply(draft: Draft, texts: Texts, *, policy: str) -> None:
    write(draft, texts, _selected, Author(VERB, policy))


def _selected(key: str) -> Path:
    return Path((_FIELD, KeyStep(key)))
