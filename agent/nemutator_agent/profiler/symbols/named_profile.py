"""Makes a profile of addresses with names: the order of frames, and callers that were lost.

A function that sets up no frame of its own hides its caller from a walk along frame pointers. The
caller's address is then one of the words at the stack pointer; Go's tables know which.
"""

import functools
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nemutator_common.profiles.grade import Verdict
from nemutator_common.profiles.model import (
    Frame,
    FrameTable,
    LabelledStack,
    Profile,
    SampleLabels,
    Stack,
    merged,
)
from nemutator_common.profiles.sample_labels import labelled

from nemutator_agent.profiler.raw import RawProfile, RawRow, Task
from nemutator_agent.profiler.symbols.joined_stacks import (
    BREAK,
    BROKEN_IN_C,
    joined,
    notes_on_breaks,
    unchecked,
)
from nemutator_agent.profiler.symbols.stack_grades import graded

_WORD = 8


@dataclass(slots=True)
class AddressNames:
    """The names of addresses, each address as `looked_up` gives it."""

    user: dict[tuple[Task, int], tuple[Frame, ...]] = field(default_factory=dict)
    """By process and address, the innermost first."""
    depths: dict[tuple[Task, int], int] = field(default_factory=dict)
    """Bytes between the stack pointer and the return address, by process and innermost address."""
    kernel: dict[int, Frame] = field(default_factory=dict)
    calls: dict[tuple[Task, int, int], Verdict] = field(default_factory=dict)
    """By process, caller and what it called."""

    def stack(self, row: "RawRow") -> tuple[int, ...]:
        """The row's addresses as they are looked up, with the caller of its leaf where that was lost,
        and the goroutine beneath."""
        depth = self.depths.get((row.task, row.user[0]), -1) if row.user else -1
        own = looked_up(repaired(row, depth))
        return joined(own, row, functools.partial(self.outermost, row.task))

    def frames(self, row: "RawRow") -> tuple[Frame, ...]:
        """The functions of the row's stack in user mode, the innermost first."""
        found: list[Frame] = []
        for pc in self.stack(row):
            found += (BROKEN_IN_C,) if pc == BREAK else self.user.get((row.task, pc), (UNKNOWN,))
        return tuple(found)

    def outermost(self, task: Task, pc: int) -> Frame | None:
        """The function that contains an address, with what was inlined into it; None where there is
        no code that is known to be mapped."""
        frames = self.user.get((task, pc))
        return frames[-1] if frames else None

    def kinds(self) -> "Counter[str]":
        """How many addresses turned out to be what: by the kind of their innermost frame."""
        user = (frames[0] for frames in self.user.values() if frames)
        return Counter(frame.kind for frame in (*user, *self.kernel.values()))


UNKNOWN = Frame("[unknown]")
CUT = Frame("[cut off]")
UNKNOWN_KERNEL = Frame("[unknown in the kernel]", kind="kernel")


def looked_up(stack: tuple[int, ...]) -> tuple[int, ...]:
    """The addresses to look up: all but the innermost are return addresses, which may belong to
    another line, or another function, than the call."""
    return (*filter(None, stack[:1]), *[pc - 1 for pc in stack[1:] if pc])


def callers(row: RawRow) -> tuple[int, ...]:
    """The addresses that may be the innermost function's caller."""
    return tuple(word for word in row.words if word) if row.user else ()


def repaired(row: RawRow, depth: int) -> tuple[int, ...]:
    """The stack with the caller of its innermost function, where that has set up no frame yet."""
    if not row.user or depth not in (0, _WORD):
        return row.user
    caller = row.words[depth // _WORD]
    if not caller or caller in row.user[1:2]:
        return row.user
    return (row.user[0], caller, *row.user[1:])


def possible_stacks(row: RawRow) -> set[tuple[int, ...]]:
    """The stacks that the row may turn out to have, once depths are known, as they are looked up."""
    depths = (-1, 0, _WORD) if callers(row) else (-1,)
    return {unchecked(looked_up(repaired(row, depth)), row) for depth in depths}


def calls_of(places: tuple[int, ...]) -> Iterator[tuple[int, int]]:
    """Callers with what they called, both as they are looked up."""
    return zip(places[1:], places, strict=False)


def labels_of(raw: RawProfile, row: RawRow, *, threads: bool) -> SampleLabels:
    """Of the process, and with *threads* of the thread, where that was told apart."""
    found = raw.labels.get(row.tgid, ())
    if not threads or not row.thread:
        return found
    found = (*found, ("thread", str(row.thread)))
    name = raw.thread_names.get((row.tgid, row.thread))
    return found if name is None else (*found, ("thread_name", name))


def assembled(
    raw: RawProfile, names: AddressNames, *, notes: tuple[str, ...], labels: Mapping[str, str]
) -> Profile:
    """All samples. Rows with equal names become one stack."""
    table = FrameTable()

    # Few places are on many stacks, and a frame is slow to hash.
    @functools.cache
    def user(task: Task, pc: int) -> Stack:
        return tuple(map(table.number, names.user.get((task, pc), (UNKNOWN,))))

    @functools.cache
    def kernel(pc: int) -> int:
        return table.number(names.kernel.get(pc, UNKNOWN_KERNEL))

    def stack(row: RawRow, places: tuple[int, ...]) -> Stack:
        numbers = [kernel(pc) for pc in looked_up(row.kernel)]
        for pc in places:
            numbers += (table.number(BROKEN_IN_C),) if pc == BREAK else user(row.task, pc)
        if row.cut and not row.waiting:
            numbers.append(table.number(CUT))
        return tuple(numbers)

    rows = [(row, names.stack(row)) for row in raw.rows]
    numbers = [stack(row, at) for row, at in rows]

    def with_labels(*, threads: bool) -> tuple[tuple[LabelledStack, ...], int]:
        labels = (labels_of(raw, row, threads=threads) for row in raw.rows)
        counts = (row.count for row in raw.rows)
        return labelled(zip(numbers, counts, labels, strict=True))

    samples, without_labels = with_labels(threads=True)
    if any(row.thread for row in raw.rows):
        together = sum(row.count for row in raw.rows if not row.thread)
        if without_labels:
            samples, without_labels = with_labels(threads=False)
            together = sum(row.count for row in raw.rows)
        if together:
            notes = (
                *notes,
                f"threads of {together} samples are not told apart: there are too many",
            )
    stacks = merged((one, row.count) for one, row in zip(numbers, raw.rows, strict=True))
    if without_labels:
        notes = (*notes, f"{without_labels} samples have no labels: they are of too many processes")
    return Profile(
        hz=raw.hz,
        started_at=raw.started_at,
        seconds=raw.seconds,
        frames=table.frames,
        stacks=stacks,
        samples=samples,
        recorded=raw.recorded,
        lost=dict(raw.lost),
        cpu_seconds=raw.cpu_seconds,
        notes=(*notes, *notes_on_breaks(table.frames, stacks)),
        labels=labels,
        grade=graded(rows, names),
    )
