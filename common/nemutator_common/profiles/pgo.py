"""CPU profiles for the Go compiler: `go build -pgo` reads which calls are hot, and inlines them.

It wants nanoseconds of CPU, names of functions as Go's linker knows them, and the line at which each
function begins, because it finds a call by its distance from there. Go has that line in its programs
since 1.20.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from nemutator_common.profiles.model import FrameTable, Profile, Stack, Weighed
from nemutator_common.profiles.pprof_encoder import NANO, encode_nanoseconds


class NoGoCallsError(ValueError):
    """The compiler could not use such a profile; the message says why."""


@dataclass(frozen=True, slots=True)
class CompilerProfile:
    content: bytes
    """What `go build -pgo` reads."""
    profiles: int
    """How many it is made of."""
    stacks: int
    cpu_seconds: float
    """The CPU time of the stacks that are in it."""
    left_s: float
    """CPU time that is not, because it was not spent in functions of Go."""


def compiler_profile(profiles: Iterable[Profile]) -> CompilerProfile:
    """All of *profiles*, whatever their rates; each is let go once it is added. Raises NoGoCallsError."""
    table = FrameTable()
    times: dict[Stack, int] = {}
    sampled = 0
    started_at: list[float] = []
    seconds = 0.0
    for one in profiles:
        for stack, time in _times(one, table):
            times[stack] = times.get(stack, 0) + time
        sampled += _period(one) * sum(count for _, count in one.stacks)
        started_at.append(one.started_at)
        seconds += one.seconds
    kept = sum(times.values())
    if not kept:
        raise NoGoCallsError("no sample is in a function of Go")
    if not any(frame.start_line for frame in table.frames):
        raise NoGoCallsError(
            "no function in them says at which line it begins: programs of Go have that since 1.20"
        )
    merged = Weighed(
        frames=table.frames,
        stacks=tuple(times.items()),
        unit="nanoseconds",
        started_at=min(started_at),
    )
    return CompilerProfile(
        content=encode_nanoseconds(merged, seconds=seconds),
        profiles=len(started_at),
        stacks=len(times),
        cpu_seconds=kept / NANO,
        left_s=(sampled - kept) / NANO,
    )


def _times(profile: Profile, table: FrameTable) -> Iterator[tuple[Stack, int]]:
    """The parts of its stacks that are Go's own, with their nanoseconds.

    What the kernel or C does for a function of Go is time of that function: no compiler inlines it.
    """
    period = _period(profile)
    numbers = {
        position: table.number(frame)
        for position, frame in enumerate(profile.frames)
        if frame.kind == "go"
    }
    for stack, count in profile.stacks:
        own = tuple(numbers[position] for position in stack if position in numbers)
        if own:
            yield own, count * period


def _period(profile: Profile) -> int:
    return round(NANO / profile.hz)
