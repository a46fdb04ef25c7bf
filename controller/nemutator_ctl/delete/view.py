"""What deleting has done, for people."""

from dataclasses import dataclass

from nemutator_ctl.answers import understood
from nemutator_ctl.edits import ShownObject
from nemutator_ctl.terminal_text import visible


@dataclass(frozen=True, slots=True)
class ShownDeletion:
    object: ShownObject


def view(document: object) -> str:
    done = understood(document, ShownDeletion, "what deleting answers")
    return visible(f"{done.object} deleted", limit=200) + "\n"
