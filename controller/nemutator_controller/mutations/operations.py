"""One operation of a JSON Patch (RFC 6902)."""

from collections.abc import Sequence
from typing import Literal

from nemutator_controller.mutations.paths import ItemStep, Json, Step

Operation = dict[str, Json]


def operation_at(
    op: Literal["add", "replace", "test"], pointer: str, value: Json, inside: Sequence[Step] = ()
) -> Operation:
    """An operation on *value*, within the new parents through which *inside* leads to it."""
    for step in reversed(inside):
        value = [value] if isinstance(step, ItemStep) else {step.name: value}
    return {"op": op, "path": pointer, "value": value}
