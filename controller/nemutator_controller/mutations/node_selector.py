"""The verb `nodeSelector`: on which nodes a pod may run, by labels that they must have."""

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import FieldStep, KeyStep, Path
from nemutator_controller.mutations.texts import Texts, TextSetters, setters_of, write

VERB = "nodeSelector"

_FIELD = FieldStep(VERB)


def setters(texts: Texts, *, policy: str) -> TextSetters:
    return setters_of(texts, _selected, Author(VERB, policy))


def apply(draft: Draft, texts: Texts, *, policy: str) -> None:
    write(draft, setters(texts, policy=policy))


def _selected(key: str) -> Path:
    return Path((_FIELD, KeyStep(key)))
