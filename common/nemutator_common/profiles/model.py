"""A profile with names: where processes were seen, and how often."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

FrameKind = Literal["go", "native", "kernel", "unknown"]

Stack = tuple[int, ...]
"""Places in `Profile.frames`, the innermost first."""


@dataclass(frozen=True, slots=True)
class Binary:
    """A file with code, as it was mapped."""

    file: str
    """Its path where it ran: a stranger's words, as names are."""
    build_id: str = ""
    """In hexadecimal digits; empty when it has none."""
    start: int = 0
    """First address of the code, and the one after the last."""
    limit: int = 0
    offset: int = 0
    """Where in the file the code begins."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One function at one line. Names are what the profiled program says of itself: hostile."""

    function: str
    file: str = ""
    line: int = 0
    start_line: int = 0
    """Where the function begins in its file; 0 when that is not known, as with the others."""
    kind: FrameKind = "unknown"
    inlined: bool = False
    """Into the next frame of its stack, by the compiler: it had no call of its own."""
    address: int = 0
    """Of the call, in its binary: what is inlined shares both with the frame that it is in."""
    binary: Binary | None = None
    """None where no file is behind it: in the kernel, or without a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    kind: Literal["cpu"] = "cpu"
    hz: int
    started_at: float
    seconds: float
    frames: tuple[Frame, ...]
    stacks: tuple[tuple[Stack, int], ...]
    """With how often each was seen."""
    recorded: int
    lost: Mapping[str, int] = field(default_factory=dict)
    """Samples that are in no stack, by reason; a reason is a word."""
    cpu_seconds: float | None = None
    """CPU time by the kernel's own account: what samples and rate should come to."""
    notes: tuple[str, ...] = ()
    """What people should know, a line each."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """Of what this is the profile; a key is a word."""

    @property
    def sampled_cpu_seconds(self) -> float:
        """CPU time as the samples say it, lost ones included."""
        return (self.recorded + sum(self.lost.values())) / self.hz


class FrameTable:
    """Gives each frame one number, so that stacks are rows of numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Frame, int] = {}

    def number(self, frame: Frame) -> int:
        return self._numbers.setdefault(frame, len(self._numbers))

    @property
    def frames(self) -> tuple[Frame, ...]:
        return tuple(self._numbers)


def merged(stacks: Iterable[tuple[Stack, int]]) -> tuple[tuple[Stack, int], ...]:
    """Equal stacks as one, in the order of their first appearance."""
    counts: dict[Stack, int] = {}
    for stack, count in stacks:
        counts[stack] = counts.get(stack, 0) + count
    return tuple(counts.items())


@dataclass(frozen=True, slots=True)
class Share:
    """How much of a profile is one function's."""

    function: str
    kind: FrameKind
    flat: int
    """Samples in the function itself, what was inlined into it not counted."""
    cumulative: int
    """Samples in it or in what it called; recursion counts once."""


def functions(profile: Profile) -> tuple[Share, ...]:
    """All functions, those with most samples of their own first."""
    flat: dict[tuple[str, FrameKind], int] = {}
    cumulative: dict[tuple[str, FrameKind], int] = {}
    keys = [(frame.function, frame.kind) for frame in profile.frames]
    for stack, count in profile.stacks:
        for key in {keys[number] for number in stack}:
            cumulative[key] = cumulative.get(key, 0) + count
        if stack:
            leaf = keys[stack[0]]
            flat[leaf] = flat.get(leaf, 0) + count
    shares = (
        Share(name, kind, flat.get((name, kind), 0), total)
        for (name, kind), total in cumulative.items()
    )
    return tuple(sorted(shares, key=lambda one: (-one.flat, -one.cumulative, one.function)))
