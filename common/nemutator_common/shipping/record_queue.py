"""Where records wait until the brain has them: in memory (`buffer.py`) or on a disk."""

from collections.abc import Sequence
from typing import Protocol


class RecordQueue(Protocol):
    """Records with rising numbers, each encoded once. A missing number means a dropped record."""

    def __len__(self) -> int:
        """The number of records that wait."""
        ...

    @property
    def last_seq(self) -> int:
        """The highest number that was given to a record, whether it still waits or not."""
        ...

    def first(self, *, most: int, most_bytes: int) -> Sequence[tuple[int, bytes]]:
        """The oldest records whose batch is within *most_bytes*; at least one if there is any."""
        ...

    def forget(self, *, up_to: int) -> None:
        """Remove the records that the brain has, or will never take."""
        ...
