"""What sampling found, before anybody knows names: addresses and how often they were seen."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RawRow:
    """One place where one process was seen, *count* times."""

    tgid: int
    """The pid that the agent's own /proc shows."""
    user: tuple[int, ...]
    """Leaf first; all but the first are return addresses. Empty when the process had no stack of
    its own at that moment, or it could not be read."""
    kernel: tuple[int, ...]
    """The same, empty when the sample was taken in user mode."""
    words: tuple[int, int]
    """The two words at the stack pointer, user mode only, each 0 unless it points into the text
    range that the process was sampled with: one may be the return address of a leaf without
    frame."""
    count: int
    image: int = 0
    """Which program the process was running: another after it called exec, or when another has its
    number. 0 when that is not known."""
    cut: bool = False
    """*user* ends where no more frames are kept: its root is missing."""

    @property
    def task(self) -> "Task":
        return self.tgid, self.image


Task = tuple[int, int]
"""A process while it runs one program: its number, and the image."""


@dataclass(frozen=True, slots=True)
class RawProfile:
    """One session. The sum of the rows' counts is *recorded*."""

    hz: int
    started_at: float
    seconds: float
    """How long sampling really lasted."""
    rows: tuple[RawRow, ...]
    recorded: int
    """Samples that are in the rows."""
    lost: Mapping[str, int]
    """Samples of the target that are not, by reason; reasons without any are left out."""
    cpu_seconds: float | None
    """CPU time of the target over the same time by the kernel's own accounts; None when they
    cannot be read."""

    @property
    def sampled_cpu_seconds(self) -> float:
        """CPU time as the samples say it, lost ones included: what *cpu_seconds* should be."""
        return (self.recorded + sum(self.lost.values())) / self.hz
