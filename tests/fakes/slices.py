"""What is made in slices, made at once."""

from typing import TypeVar

from nemutator_controller.admission.snapshot_slices import Slices

T = TypeVar("T")


def whole(slices: Slices[T]) -> T:
    while True:
        try:
            next(slices)
        except StopIteration as made:
            result: T = made.value
            return result
