"""The verb `annotations`: what others read beside a pod."""

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import annotation
from nemutator_controller.mutations.texts import Texts, write

VERB = "annotations"


def apply(draft: Draft, texts: Texts, *, policy: str) -> None:
    write(draft, texts, annotation, Author(VERB, policy))
