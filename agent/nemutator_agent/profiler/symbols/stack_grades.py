"""Grades stacks with names: which of them reach a root, and which of their calls are in the code."""

import functools
import itertools
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Protocol

from nemutator_common.profiles.grade import Break, Grade, Verdict
from nemutator_common.profiles.model import Frame

from nemutator_agent.profiler.raw import RawRow, Task
from nemutator_agent.profiler.symbols.joined_stacks import BREAK

GO_ROOTS = frozenset(
    {
        "runtime.goexit",
        "runtime.mstart",
        "runtime.mcall",
        "runtime.morestack",
        "runtime.rt0_go",
        "runtime.sigtramp",
        "runtime.sigreturn__sigaction",
    }
)
"""Where goroutines, threads, the scheduler's stack and that of signals begin, and Go's own tracebacks
end."""

ROOTS = GO_ROOTS | {
    "main",
    "_start",
    "__libc_start_main",
    "__libc_start_call_main",
    "start_thread",
    "clone",
    "__clone",
    "clone3",
    "__clone3",
}
"""And where programs and threads of C begin."""

INJECTED = frozenset(
    {"runtime.asyncPreempt", "runtime.sigpanic", "runtime.sigpanic0", "runtime.sigtramp"}
)
"""The runtime or the kernel has put these on the stack, wherever the code was: nobody called them."""


UNKNOWN = Frame("[unknown]")
UNKNOWN_MEMORY = "[unknown in memory without a file]"


class Names(Protocol):
    """Addresses of processes, as far as they have names and were checked."""

    @property
    def user(self) -> Mapping[tuple[Task, int], tuple[Frame, ...]]: ...

    @property
    def calls(self) -> Mapping[tuple[Task, int, int], Verdict]: ...


def graded(rows: Iterable[tuple[RawRow, tuple[int, ...]]], names: Names) -> Grade:
    """The grade of *rows*, each with its addresses as they were looked up."""
    go_tasks = {
        task for (task, _), frames in names.user.items() if frames and frames[0].kind == "go"
    }

    @functools.cache
    def function(task: Task, pc: int) -> str:
        frames = names.user.get((task, pc), ())
        return frames[-1].function if frames else ""

    def ending(row: RawRow, stack: tuple[int, ...]) -> Break | None:
        if not stack:
            # A thread of the kernel, or of a process that has given up its memory.
            return "user" if row.image or not row.kernel else None
        if BREAK in stack:
            return "cgo"
        if any(function(row.task, pc) in ROOTS for pc in stack):
            return None
        if row.cut:
            return "cut"
        outermost = names.user.get((row.task, stack[-1]), ())
        last = outermost[-1] if outermost else UNKNOWN
        if last.function == "[gone]":
            return "gone"
        # Go has names for all of its own: in its program, code of a file without a name is C.
        of_file = last.function.startswith("[unknown in ") and last.function != UNKNOWN_MEMORY
        if row.task in go_tasks and (last.kind == "native" or of_file):
            return "cgo"
        if last.kind == "unknown":
            return "unnamed"
        return "go" if last.kind == "go" else "native"

    rooted = 0
    broken: Counter[Break] = Counter()
    calls: Counter[Verdict] = Counter()
    for row, stack in rows:
        why = ending(row, stack)
        if why is None:
            rooted += row.count
        else:
            broken[why] += row.count
        for callee, caller in itertools.pairwise(stack):
            # A goroutine begins as if its root had called it, which no code does.
            begins = function(row.task, caller) == "runtime.goexit"
            if (
                not begins
                and BREAK not in (callee, caller)
                and function(row.task, callee) not in INJECTED
            ):
                calls[names.calls.get((row.task, caller, callee), "unread")] += row.count
    return Grade(rooted=rooted, broken=dict(broken), calls=dict(calls))
