"""What people write to have deleted, and what that has done."""

from dataclasses import dataclass

from nemutator_controller.mutations.paths import SWITCHED, TEMPLATES

from nemutator_ctl.answers import understood
from nemutator_ctl.edits import ShownObject
from nemutator_ctl.terminal_text import visible

_KINDS = {kind.lower(): kind for kind in (*SWITCHED, *TEMPLATES)}


@dataclass(frozen=True, slots=True)
class ShownDeletion:
    object: ShownObject


def kind_of(word: str) -> str:
    """`mutationpolicy` is MutationPolicy, as to kubectl; what is no kind of ours stays as it is."""
    return _KINDS.get(word.lower(), word)


def view(document: object) -> str:
    done = understood(document, ShownDeletion, "what deleting answers")
    return visible(f"{done.object} deleted", limit=200) + "\n"
