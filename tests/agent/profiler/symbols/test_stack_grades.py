import pytest
from nemutator_agent.profiler.raw import RawRow, Task
from nemutator_agent.profiler.symbols.joined_stacks import BREAK
from nemutator_agent.profiler.symbols.named_profile import AddressNames
from nemutator_agent.profiler.symbols.stack_grades import graded
from nemutator_common.profiles.grade import Break, Grade
from nemutator_common.profiles.model import Frame, FrameKind

TASK = (1, 0)
FUNCTIONS: dict[int, tuple[str, FrameKind]] = {
    10: ("main.work", "go"),
    20: ("main.main", "go"),
    30: ("runtime.goexit", "go"),
    40: ("burn", "native"),
    50: ("main", "native"),
    60: ("runtime.asyncPreempt", "go"),
    70: ("[unknown in libc.so.6]", "unknown"),
    80: ("[gone]", "unknown"),
    90: ("[unknown in memory without a file]", "unknown"),
}


def names(*, kinds: tuple[FrameKind, ...] = ("go", "native", "unknown")) -> AddressNames:
    known: dict[tuple[Task, int], tuple[Frame, ...]] = {
        (TASK, pc): (Frame("inlined", inlined=True, kind=kind), Frame(name, kind=kind))
        for pc, (name, kind) in FUNCTIONS.items()
        if kind in kinds
    }
    return AddressNames(user=known)


def row(
    *, count: int = 1, kernel: tuple[int, ...] = (), image: int = 0, cut: bool = False
) -> RawRow:
    return RawRow(1, (), kernel, (0, 0), count, image, cut)


@pytest.mark.parametrize(
    ("stack", "why"),
    [
        ((10, 20, 30), None),
        ((40, 50), None),
        # A library without names follows where C begins.
        ((40, 50, 70), None),
        ((10, 20), "go"),
        ((40,), "cgo"),
        ((10, 40), "cgo"),
        # Its goroutine has a root, but what called the C is lost.
        ((40, BREAK, 10, 20, 30), "cgo"),
        ((10, 70), "cgo"),
        ((10, 90), "unnamed"),
        ((10, 99), "unnamed"),
        ((80, 80), "gone"),
    ],
)
def test_a_stack_reaches_a_root_or_breaks_for_a_reason(
    stack: tuple[int, ...], why: Break | None
) -> None:
    grade = graded([(row(count=3), stack)], names())
    assert grade.rooted == (3 if why is None else 0)
    assert grade.broken == ({} if why is None else {why: 3})


def test_c_of_a_program_without_go_is_only_c() -> None:
    only_c = names(kinds=("native", "unknown"))
    assert graded([(row(), (40,)), (row(), (70,))], only_c).broken == {"native": 1, "unnamed": 1}


def test_a_stack_that_was_cut_is_so_only_short_of_its_root() -> None:
    assert graded([(row(cut=True), (10, 20))], names()).broken == {"cut": 1}
    assert graded([(row(cut=True), (10, 30))], names()).rooted == 1


def test_threads_of_the_kernel_have_no_other_stack() -> None:
    rows = [(row(kernel=(1,)), ()), (row(kernel=(1,), image=7), ()), (row(), ())]
    assert graded(rows, names()) == Grade(rooted=1, broken={"user": 2})


def test_calls_count_for_each_sample_that_shows_them() -> None:
    known = names()
    known.calls |= {(TASK, 20, 10): "direct", (TASK, 20, 40): "wrong"}
    rows = [(row(count=3), (10, 20, 30)), (row(count=2), (40, 20, 30)), (row(), (10, 50))]
    assert graded(rows, known).calls == {"direct": 3, "wrong": 2, "unread": 1}


def test_nobody_calls_what_the_runtime_puts_on_the_stack() -> None:
    assert graded([(row(), (60, 10, 20, 30))], names()).calls == {"unread": 1}


def test_what_is_lost_in_c_is_no_call() -> None:
    assert graded([(row(), (40, BREAK, 10, 30))], names()).calls == {}
