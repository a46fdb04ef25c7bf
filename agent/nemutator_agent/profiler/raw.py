"""Samples before they have names: addresses, and how often they were seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from nemutator_common.profiles.model import SampleLabels

NANOSECONDS = 1_000_000_000
"""So many samples are a second where threads are not sampled, but each of their waits is timed."""

StackOwner = Literal["unknown", "goroutine", "thread", "borrowed", "unreadable"]
"""Whose stack a thread of Go was on: a goroutine's; its own, for no goroutine; its own, while a goroutine
waits for what it does there, in C or in Go's runtime. unreadable: of the one that waits only this much
is known. unknown: the thread is none of Go, or its goroutine cannot be found."""


@dataclass(frozen=True, slots=True)
class RawRow:
    """One place where one process was seen, *count* times."""

    tgid: int
    """The pid that the agent's own /proc shows."""
    user: tuple[int, ...]
    """Leaf first; all but the first are return addresses. Empty when the process had no user stack
    then, or it could not be read."""
    kernel: tuple[int, ...]
    """The same, empty when the sample was taken in user mode."""
    words: tuple[int, int]
    """The two words at the stack pointer of user mode, each 0 unless it points into the text that the
    process was sampled with: one may be the return address of a leaf without a frame."""
    count: int
    image: int = 0
    """The program that the process was running: exec changes it, and so does another process with the
    same number. 0 when it is not known."""
    cut: bool = False
    """*user* has as many frames as are kept: its root is missing."""
    owner: StackOwner = "unknown"
    """Whose stack *user* begins on."""
    waiting: tuple[int, ...] = ()
    """The return addresses of the goroutine that waits, the innermost first. *user* may end before
    them, or hold some of them, too."""
    thread: int = 0
    """Its number, where threads are told apart."""

    @property
    def task(self) -> "Task":
        return self.tgid, self.image


Thread = tuple[int, int]
"""The number of a process, and of one of its threads."""

Task = tuple[int, int]
"""A process while it runs one program: its number, and the image."""


@dataclass(frozen=True, slots=True)
class SeenProgram:
    """What a process ran when it was sampled."""

    task: Task
    inode: int
    """That of the executable, on the *device* by the kernel's own number; 0 when it is not known."""
    device: int
    code: int
    """Where the code of the executable begins in memory. All that run it have it at this place, each
    with a shift of its own."""


@dataclass(frozen=True, slots=True)
class RawProfile:
    """One session. The sum of the rows' counts is *recorded*."""

    hz: int
    """NANOSECONDS where samples are of time off the CPU."""
    started_at: float
    seconds: float
    """How long the sampling really lasted."""
    rows: tuple[RawRow, ...]
    recorded: int
    """The number of samples in the rows."""
    lost: Mapping[str, int]
    """The number of samples of the target that are not in them, by reason, without zeros."""
    cpu_seconds: float | None
    """The target's CPU time in these seconds by the kernel's own counters; None when they cannot be
    read."""
    labels: Mapping[int, SampleLabels] = field(default_factory=dict)
    """What is known of processes, by their numbers."""
    thread_names: Mapping[Thread, str] = field(default_factory=dict)
    """As the kernel shows them; those that had ended have none."""

    @property
    def is_off_cpu(self) -> bool:
        return self.hz == NANOSECONDS

    @property
    def sampled_cpu_seconds(self) -> float:
        """CPU time by the samples, with the lost ones: *cpu_seconds* should be the same."""
        return (self.recorded + sum(self.lost.values())) / self.hz
