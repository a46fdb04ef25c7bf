from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.raw import RawRow
from nemutator_agent.profiler.symbols.joined_stacks import (
    BREAK,
    BROKEN_IN_C,
    joined,
    notes_on_breaks,
    unchecked,
)
from nemutator_common.profiles.model import Frame

CGOCALL, WORK, MAIN = 101, 201, 301
"""Return addresses of a goroutine that waits."""

WAITING = (CGOCALL, WORK, MAIN)
BENEATH = (100, 200, 300)
"""The same as they are looked up."""

NAMES = {
    1: Frame("burn", kind="native"),
    2: Frame("outer", kind="native"),
    11: Frame("runtime.gcDrain", kind="go"),
    12: Frame("runtime.systemstack.abi0", kind="go"),
    13: Frame("runtime.park_m", kind="go"),
    14: Frame("runtime.mcall", kind="go"),
    15: Frame("runtime.asmcgocall.abi0", kind="go"),
    100: Frame("runtime.cgocall", kind="go"),
    200: Frame("main.work", kind="go"),
    300: Frame("main.main", kind="go"),
}
"""By addresses as they are looked up; 99 is none of code."""


def row(waiting: tuple[int, ...] = WAITING, *, cut: bool = False) -> RawRow:
    return RawRow(1, (1,), (), (0, 0), 1, cut=cut, waiting=waiting)


def test_where_no_goroutine_waits_nothing_is_joined() -> None:
    assert joined((1, 2, 3), row(()), NAMES.get) == (1, 2, 3)
    assert unchecked((1, 2, 3), row(())) == (1, 2, 3)


def test_a_goroutine_that_frame_pointers_reach_stands_there_once() -> None:
    # Until Go 1.20 the function that left the stack is missing.
    for own in ((11, 12, *BENEATH), (11, 12, *BENEATH[1:]), (11, 12)):
        assert joined(own, row(), NAMES.get) == (11, 12, *BENEATH)
        assert unchecked(own, row()) == (11, 12, *BENEATH)


def test_a_goroutine_that_calls_itself_is_as_deep_as_it_waits() -> None:
    waiting, beneath = (101, 201, 201, 201, 301), (100, 200, 200, 200, 300)
    assert joined((1, 2, 15, 200, 200, 300), row(waiting), NAMES.get) == (1, 2, 15, *beneath)


def test_c_that_keeps_frame_pointers_is_whole() -> None:
    assert joined((1, 2, 15, *BENEATH), row(), NAMES.get) == (1, 2, 15, *BENEATH)


def test_c_that_keeps_none_is_broken_above_its_goroutine() -> None:
    for lost in ((1,), (1, *BENEATH), (1, *BENEATH[1:])):
        assert joined(lost, row(), NAMES.get) == (1, BREAK, *BENEATH)


def test_what_a_used_frame_pointer_led_to_is_left_out_unless_it_is_code() -> None:
    assert joined((1, 99, 99), row(), NAMES.get) == (1, BREAK, *BENEATH)
    assert joined((1, 2, 99), row(), NAMES.get) == (1, 2, BREAK, *BENEATH)
    assert joined((99,), row(), NAMES.get) == (99, BREAK, *BENEATH)


def test_the_scheduler_works_for_no_goroutine() -> None:
    assert joined((13, 14), row(), NAMES.get) == (13, 14)


def test_a_stack_that_is_cut_off_gets_its_root() -> None:
    waiting, beneath = (101, 201, 301, 401), (100, 200, 300, 400)
    for own in ((11, 12, *beneath[:3]), (11, 12, *beneath[1:3]), (11, 12)):
        assert joined(own, row(waiting, cut=True), NAMES.get) == (11, 12, *beneath)


ADDRESSES = st.lists(st.sampled_from([*NAMES, 99]), max_size=6).map(tuple)


@given(ADDRESSES, ADDRESSES, st.booleans())
def test_a_goroutine_is_whole_or_left_out(
    own: tuple[int, ...], waiting: tuple[int, ...], cut: bool
) -> None:
    found = joined(own, row(waiting, cut=cut), NAMES.get)
    beneath = tuple(pc - 1 for pc in waiting)
    thread = found[: len(found) - len(beneath)]
    kept = thread[:-1] if thread[-1:] == (BREAK,) else thread
    assert found == own or (found[len(thread) :] == beneath and kept == own[: len(kept)])


def test_samples_that_are_broken_are_counted() -> None:
    frames = (Frame("burn"), BROKEN_IN_C, Frame("main.main"))
    (note,) = notes_on_breaks(frames, [((0, 1, 2), 7), ((2,), 3)])
    assert note.startswith("7 of 10 samples are of C called from Go")
    assert notes_on_breaks(frames[:1], [((0,), 3)]) == ()
