"""A heap profile with names: which calls have allocated memory, and how much of it is in use."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from nemutator_common.profiles.model import Frame, Stack


class Allocated(NamedTuple):
    """What one stack has allocated since its process began, estimated from what was recorded."""

    objects: int = 0
    bytes: int = 0
    objects_in_use: int = 0
    """Those of them that no garbage collection has freed yet."""
    bytes_in_use: int = 0

    def plus(self, other: "Allocated") -> "Allocated":
        return Allocated(*(one + two for one, two in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True, kw_only=True)
class HeapProfile:
    started_at: float
    rate: int
    """How many bytes were allocated for each that was recorded."""
    frames: tuple[Frame, ...]
    sites: tuple[tuple[Stack, Allocated], ...]
    """Each stack that has allocated anything."""
    notes: tuple[str, ...] = ()
    """What people should know, one line for each note."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What was profiled; a key is a single word."""

    @property
    def stacks(self) -> tuple[tuple[Stack, int], ...]:
        """The bytes in use by stack, as graphs and tables show them."""
        return tuple((stack, one.bytes_in_use) for stack, one in self.sites if one.bytes_in_use)

    @property
    def total(self) -> Allocated:
        total = Allocated()
        for _, one in self.sites:
            total = total.plus(one)
        return total
