from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.raw import RawProfile, RawRow
from nemutator_agent.profiler.symbols.named_profile import (
    UNKNOWN,
    AddressNames,
    assembled,
    callers,
    looked_up,
    repaired,
)
from nemutator_common.profiles import folded
from nemutator_common.profiles.model import Frame
from nemutator_common.profiles.sample_labels import MOST_LABELLED

PC = st.integers(0, 9)
ROWS = st.builds(
    RawRow,
    tgid=st.integers(1, 2),
    user=st.lists(PC, max_size=4).map(tuple),
    kernel=st.lists(PC, max_size=2).map(tuple),
    words=st.tuples(PC, PC),
    count=st.integers(1, 100),
)


ONE = (1, 0)


def raw(*rows: RawRow) -> RawProfile:
    return RawProfile(
        hz=99,
        started_at=1.0,
        seconds=2.0,
        rows=rows,
        recorded=sum(row.count for row in rows),
        lost={"no_stack": 1},
        cpu_seconds=0.5,
    )


def row(*user: int, words: tuple[int, int] = (0, 0), kernel: tuple[int, ...] = ()) -> RawRow:
    return RawRow(1, user, kernel, words, 1)


def test_all_but_the_innermost_are_looked_up_where_the_call_was() -> None:
    assert looked_up((100, 200, 300)) == (100, 199, 299)
    assert looked_up((100, 0, 300)) == (100, 299)


def test_the_caller_of_a_leaf_without_frame_is_put_back() -> None:
    assert repaired(row(1, 3, words=(2, 9)), 0) == (1, 2, 3)
    assert repaired(row(1, 3, words=(9, 2)), 8) == (1, 2, 3)
    assert repaired(row(1, words=(2, 9)), 0) == (1, 2)
    assert repaired(row(1, 2, words=(2, 9)), 0) == (1, 2)
    assert repaired(row(1, 3, words=(0, 2)), 0) == (1, 3)
    for depth in (-1, 4, 16):
        assert repaired(row(1, 3, words=(2, 2)), depth) == (1, 3)
    assert repaired(row(1, 3, words=(2, 9), kernel=(7,)), 0) == (1, 2, 3)
    assert repaired(row(words=(2, 2)), 0) == ()


def test_callers_are_asked_about_only_where_they_may_be_needed() -> None:
    assert callers(row(1, words=(0, 5))) == (5,)
    assert callers(row(1, words=(4, 5), kernel=(1,))) == (4, 5)
    assert callers(row(words=(4, 5))) == ()


def test_rows_that_differ_only_in_words_are_one_stack() -> None:
    names = AddressNames(
        user={(ONE, 100): (Frame("leaf"),), (ONE, 199): (Frame("inner"), Frame("outer"))},
        depths={(ONE, 100): 0},
        kernel={50: Frame("syscall", kind="kernel")},
    )
    profile = assembled(
        raw(
            row(100, 200),
            row(100, 200, words=(200, 7)),
            row(100, words=(200, 8)),
            row(100, kernel=(50,)),
            row(400),
        ),
        names,
        notes=("a note",),
        labels={"pid": "1"},
    )
    assert folded.render(profile) == (
        f"{UNKNOWN.function} 1\nleaf;syscall_[k] 1\nouter;inner;leaf 3\n"
    )
    assert (profile.hz, profile.recorded, profile.lost) == (99, 5, {"no_stack": 1})
    assert (profile.notes, profile.labels) == (("a note",), {"pid": "1"})


def test_a_stack_without_its_root_says_so() -> None:
    names = AddressNames(user={(ONE, 100): (Frame("leaf"),)})
    deep = RawRow(1, (100,), (), (0, 0), 3, cut=True)
    profile = assembled(raw(deep, row(100)), names, notes=(), labels={})
    assert folded.render(profile) == "[cut_off];leaf 3\nleaf 1\n"


def test_a_goroutine_that_waits_for_c_is_beneath_it() -> None:
    names = AddressNames(
        user={
            (ONE, 100): (Frame("burn", kind="native"),),
            (ONE, 199): (Frame("runtime.cgocall", kind="go"),),
        }
    )
    waits = RawRow(1, (100,), (), (0, 0), 3, owner="borrowed", waiting=(200,), cut=True)
    profile = assembled(raw(waits), names, notes=("a note",), labels={})
    assert folded.render(profile) == "runtime.cgocall;[broken_in_C];burn 3\n"
    assert profile.notes[0] == "a note"
    assert profile.notes[1].startswith("3 of 3 samples are of C")


@given(st.lists(ROWS, max_size=10))
def test_no_sample_is_lost(rows: list[RawRow]) -> None:
    profile = assembled(raw(*rows), AddressNames(), notes=(), labels={})
    assert sum(count for _, count in profile.stacks) == profile.recorded
    assert len({stack for stack, _ in profile.stacks}) == len(profile.stacks)


def test_samples_have_the_labels_of_their_processes() -> None:
    seven = (("pid", "7"), ("pod", "x"))
    rows = (replace(row(1), tgid=7), replace(row(1), count=4), replace(row(2), tgid=7))
    profile = assembled(
        replace(raw(*rows), labels={7: seven}), AddressNames(), notes=("a",), labels={}
    )
    assert [(count, labels) for _, count, labels in profile.samples] == [(2, seven), (4, ())]
    assert [count for _, count in profile.stacks] == [6]
    assert profile.notes == ("a",)


def test_threads_are_told_apart_where_that_was_asked_for() -> None:
    seven = (("pid", "7"),)
    rows = [replace(row(1), tgid=7, thread=thread) for thread in (8, 9, 8)]
    profile = assembled(
        replace(raw(*rows), labels={7: seven}, thread_names={(7, 8): "worker"}),
        AddressNames(), notes=(), labels={},
    )  # fmt: skip
    assert {labels: count for _, count, labels in profile.samples} == {
        (*seven, ("thread", "8"), ("thread_name", "worker")): 2,
        (*seven, ("thread", "9")): 1,
    }
    assert [count for _, count in profile.stacks] == [3]


def test_too_many_threads_cost_no_label_of_their_process() -> None:
    seven = (("pid", "7"),)
    rows = [replace(row(1), tgid=7, thread=thread) for thread in range(1, MOST_LABELLED + 3)]
    profile = assembled(replace(raw(*rows), labels={7: seven}), AddressNames(), notes=(), labels={})
    assert [(count, labels) for _, count, labels in profile.samples] == [(len(rows), seven)]
    assert profile.notes == (
        f"threads of {len(rows)} samples are not told apart: there are too many",
    )


def test_more_labels_than_a_profile_has_room_for_are_told() -> None:
    rows = [replace(row(1), tgid=pid) for pid in range(MOST_LABELLED + 3)]
    labels = {one.tgid: (("pid", str(one.tgid)),) for one in rows}
    profile = assembled(replace(raw(*rows), labels=labels), AddressNames(), notes=(), labels={})
    assert profile.notes == ("3 samples have no labels: they are of too many processes",)
    assert sum(count for _, count, _ in profile.samples) == len(rows)
