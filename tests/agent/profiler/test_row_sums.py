from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.raw import RawRow
from nemutator_agent.profiler.row_sums import RowSums

STACKS = st.lists(st.integers(1, 2**64 - 1), max_size=3).map(tuple)


def row(tgid: int, user: tuple[int, ...], kernel: tuple[int, ...] = ()) -> RawRow:
    return RawRow(tgid, user, kernel, (0, 0), count=0)


@given(st.lists(st.tuples(st.integers(1, 3), STACKS, STACKS, st.integers(1, 9)), max_size=40))
def test_each_sample_is_in_its_row_however_often_the_maps_were_drained(
    found: list[tuple[int, tuple[int, ...], tuple[int, ...], int]],
) -> None:
    sums, expected = RowSums(), Counter[RawRow]()
    for tgid, user, kernel, count in found:
        sums.add(row(tgid, user, kernel), count)
        expected[row(tgid, user, kernel)] += count
    rows = {row(one.tgid, one.user, one.kernel): one.count for one in sums.rows()}
    assert rows == expected
    assert (sums.recorded, sums.lost) == (expected.total(), 0)


@given(st.integers(0, 5), st.integers(0, 12), st.lists(st.tuples(STACKS, st.integers(1, 9))))
def test_memory_is_bounded_and_what_does_not_fit_is_counted(
    most_rows: int, most_frames: int, found: list[tuple[tuple[int, ...], int]]
) -> None:
    sums = RowSums(most_rows=most_rows, most_frames=most_frames)
    for user, count in found:
        sums.add(row(7, user), count)
    assert len(sums.rows()) <= most_rows
    assert sum(len(one.user) for one in sums.rows()) <= most_frames
    assert sums.recorded + sums.lost == sum(count for _, count in found)


def test_what_is_known_is_counted_on_when_nothing_new_fits() -> None:
    sums = RowSums(most_rows=1)
    for user in ((1,), (2,), (1,)):
        sums.add(row(7, user), 5)
    assert [(one.user, one.count) for one in sums.rows()] == [((1,), 10)]
    assert sums.lost == 5


def test_equal_addresses_are_one_number_in_memory() -> None:
    sums, large = RowSums(), 1 << 40
    sums.add(row(7, (large + 1, large)), 1)
    sums.add(row(8, (large + 2, int(str(large)))), 1)
    first, second = sums.rows()
    assert first.user[1] is second.user[1]


def test_threads_are_one_before_samples_are_lost() -> None:
    sums = RowSums(most_rows=4)
    for thread in range(1, 100):
        sums.add(RawRow(7, (1, 2), (), (0, 0), 0, thread=thread), 1)
    sums.add(RawRow(7, (1, 2), (), (0, 0), 0, thread=1), 1)
    assert {row.thread: row.count for row in sums.rows()} == {1: 2, 2: 1, 0: 97}
    assert (sums.recorded, sums.lost) == (100, 0)
