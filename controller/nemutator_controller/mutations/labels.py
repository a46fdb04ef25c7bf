"""The verb `labels`: what a pod is called, for selectors and people."""

from nemutator_controller.mutations.edits import Author, Draft
from nemutator_controller.mutations.paths import label
from nemutator_controller.mutations.texts import Texts, write

VERB = "labels"


def apply(draft: Draft, texts: Texts, *, policy: str) -> None:
    write(draft, texts, label, Author(VERB, policy))
