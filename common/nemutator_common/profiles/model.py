"""A profile with names: where processes were running when sampled, and how often."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from nemutator_common.profiles.grade import Grade

FrameKind = Literal["go", "native", "kernel", "unknown"]

Stack = tuple[int, ...]
"""Indexes into `Profile.frames`, the innermost frame first."""

SampleLabels = tuple[tuple[str, str], ...]
"""What a sample is of, such as its process: keys, each a single word, with their values."""

LabelledStack = tuple[Stack, int, SampleLabels]
"""A stack, with the number of times that it was sampled in what its labels name."""


@dataclass(frozen=True, slots=True)
class Binary:
    """A file with code, as it was mapped."""

    file: str
    """Its path where it ran, which a stranger chose, like all names."""
    build_id: str = ""
    """The build id in hexadecimal digits; empty when the file has none."""
    start: int = 0
    """The first address of the code; `limit` is the one after the last."""
    limit: int = 0
    offset: int = 0
    """Where the code begins in the file."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One function at one line. The profiled program chooses its names, so they are hostile."""

    function: str
    file: str = ""
    line: int = 0
    start_line: int = 0
    """Where the function begins in its file; 0 when that is not known, as for the other numbers."""
    kind: FrameKind = "unknown"
    inlined: bool = False
    """Whether the compiler inlined it into the next frame of its stack: it was never called."""
    address: int = 0
    """The address of the call in its binary; an inlined frame has both from the frame around it."""
    binary: Binary | None = None
    """None where the frame has no file: in the kernel, or without a name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Where CPU time went."""

    hz: int
    started_at: float
    seconds: float
    frames: tuple[Frame, ...]
    stacks: tuple[tuple[Stack, int], ...]
    """Each stack, with the number of times that it was sampled."""
    recorded: int
    lost: Mapping[str, int] = field(default_factory=dict)
    """The numbers of samples that are in no stack, by reason; a reason is a single word."""
    cpu_seconds: float | None = None
    """CPU time by the kernel's own counter, which samples and rate should add up to."""
    notes: tuple[str, ...] = ()
    """What people should know, one line for each note."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What was profiled; a key is a single word."""
    grade: Grade | None = None
    """None where nobody has graded it, such as a profile of another tool."""
    samples: tuple[LabelledStack, ...] = ()
    """The same stacks, told apart by their labels; empty where no sample has any. The sums are those of
    *stacks*."""

    @property
    def sampled_cpu_seconds(self) -> float:
        """The CPU time that the samples add up to, lost ones included."""
        return (self.recorded + sum(self.lost.values())) / self.hz


class WeighedStacks(Protocol):
    """What a graph is drawn of: stacks with what each weighs, samples or bytes."""

    @property
    def frames(self) -> tuple[Frame, ...]: ...

    @property
    def stacks(self) -> tuple[tuple[Stack, int], ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """Stacks of which no more is known: folded text, or a kind of profile that is another tool's."""

    frames: tuple[Frame, ...]
    stacks: tuple[tuple[Stack, int], ...]
    unit: str = "samples"
    """What the weights count; a stranger's word, like all names."""
    started_at: float = 0.0
    """0 when that is not known."""
    notes: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)


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
    """Merge equal stacks, in the order of their first appearance."""
    counts: dict[Stack, int] = {}
    for stack, count in stacks:
        counts[stack] = counts.get(stack, 0) + count
    return tuple(counts.items())


@dataclass(frozen=True, slots=True)
class Share:
    """The share of a profile that belongs to one function."""

    function: str
    kind: FrameKind
    flat: int
    """Samples, or bytes, in the function itself, without what was inlined into it."""
    cumulative: int
    """Those in the function or in what it called; recursion counts once."""


def functions(profile: WeighedStacks) -> tuple[Share, ...]:
    """All functions, those with the most of their own first."""
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
