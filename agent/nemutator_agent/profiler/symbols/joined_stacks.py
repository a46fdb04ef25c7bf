"""The stack of a goroutine that waits, beneath what its thread does on a stack of its own.

A thread of Go runs C, and parts of Go's runtime, on its own stack: asmcgocall, systemstack and
morestack lead there, and back. Frame pointers lead from there to the goroutine only where all of
them are kept, which C seldom does, and Go does since 1.21.
"""

from collections.abc import Callable, Iterable

from nemutator_common.profiles.model import Frame, Stack

from nemutator_agent.profiler.raw import RawRow

BROKEN_IN_C = Frame("[broken in C]")

BREAK = 0
"""In place of an address: frames are lost there, in C."""

_SCHEDULER = ("runtime.mcall", "runtime.mstart", "runtime.rt0_go", "runtime.goexit")
"""Where a thread begins, or begins anew: it works for no goroutine in particular."""

Outermost = Callable[[int], Frame | None]
"""The outermost function at an address; None when there is no code, or none that is known."""


def unchecked(own: tuple[int, ...], row: RawRow) -> tuple[int, ...]:
    """The addresses *own* of a row, as they are looked up, and those of the goroutine that waits."""
    waiting = _waiting(row)
    return (*_without(own, waiting, cut=row.cut), *waiting) if waiting else own


def joined(own: tuple[int, ...], row: RawRow, outermost: Outermost) -> tuple[int, ...]:
    """The same once names are known: without what is no code, and with BREAK where frames are lost."""
    waiting = _waiting(row)
    if not waiting:
        return own
    thread = _without(own, waiting, cut=row.cut)
    # A C function may use the frame pointer for anything: what it then points to is no code.
    while len(thread) > 1 and outermost(thread[-1]) is None:
        thread = thread[:-1]
    last = outermost(thread[-1]) if thread else None
    if last is not None and last.function.startswith(_SCHEDULER):
        return own
    if last is None or last.kind != "go":
        return (*thread, BREAK, *waiting)
    return (*thread, *waiting)


def _waiting(row: RawRow) -> tuple[int, ...]:
    return tuple(pc - 1 for pc in row.waiting)


def _without(own: tuple[int, ...], waiting: tuple[int, ...], *, cut: bool) -> tuple[int, ...]:
    """*own* without its end, where that is of the goroutine."""
    if cut:
        for at in range(1, len(own)):
            rest = own[at:]
            if any(rest == waiting[i : i + len(rest)] for i in range(len(waiting))):
                return own[:at]
        return own
    same = 0
    while same < min(len(own), len(waiting)) and own[-1 - same] == waiting[-1 - same]:
        same += 1
    return own[: len(own) - same]


def notes_on_breaks(
    frames: tuple[Frame, ...], stacks: Iterable[tuple[Stack, int]]
) -> tuple[str, ...]:
    """What people should know of stacks that are not whole."""
    if BROKEN_IN_C not in frames:
        return ()
    broken, stacks = frames.index(BROKEN_IN_C), tuple(stacks)
    hit = sum(count for stack, count in stacks if broken in stack)
    of = sum(count for _, count in stacks)
    note = (
        f"{hit} of {of} samples are of C called from Go that keeps no frame pointers: its innermost "
        f"function is there, those between are {BROKEN_IN_C.function}"
    )
    return (note,)
