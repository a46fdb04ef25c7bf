"""The verb `annotations`: they are notes on a pod for others to read."""

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import annotation
from nemutator_controller.mutations.texts import Texts, TextSetters, setters_of, write

VERB = "annotations"


def setters(texts: Texts, *, policy: str) -> TextSetters:
    return setters_of(texts, annotation, Author(VERB, policy))


def apply(draft: Draft, texts: Texts, *, policy: str) -> None:
    write(draft, setters(texts, policy=policy))
