"""The verb `annotations`: they are notes on a pod for others to read."""

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import annotation
from nemutator_controller.mutations.texts import Texts, write

VERB = "annotations"


def apply(draft: Draft, texts: Texts, *, policy: str) -> None:
    write(draft, texts, annotation, Author(VERB, policy))
