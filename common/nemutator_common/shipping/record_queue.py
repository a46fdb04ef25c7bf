"""Where records wait until the brain has them: in memory (`buffer.py`) or on a disk."""

from collections.abc import Sequence
from typing import Protocol


class RecordQueue(Protocol):
    """Records with rising numbers, each encoded once. A number that is missing was dropped."""

    def __len__(self) -> int:
        """How many wait."""
        ...

    @property
    def last_seq(self) -> int:
        """The highest number that was given to a record, kept or not."""
        ...

    def first(self, *, most: int, most_bytes: int) -> Sequence[tuple[int, bytes]]:
        """The oldest, at least one if there is any, whose batch is within *most_bytes*."""
        ...

    def forget(self, *, up_to: int) -> None:
        """Drop what the brain has, or will never take."""
        ...
