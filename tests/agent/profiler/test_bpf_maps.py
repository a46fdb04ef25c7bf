from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.bpf_maps import (
    COUNT,
    COUNTERS,
    DEEPEST,
    ROW,
    STACK,
    Counters,
    Samples,
    accounted,
    parse_stack,
    sum_counters,
    sum_counts,
    turn_of,
    with_stacks,
)
from nemutator_agent.profiler.raw import RawRow
from nemutator_agent.profiler.row_sums import RowSums

NOTHING = Counters(0, 0, 0, 0, 0, 0, 0, 0)
ADDRESSES = st.integers(0, 2**64 - 1)


def row(tgid: int, user: int, kernel: int, count: int) -> tuple[bytes, bytes]:
    return ROW.pack(tgid, 0, user, kernel, 0, 0, 0, 0), COUNT.pack(count)


def together(
    rows: list[tuple[bytes, bytes]],
    stacks: dict[int, tuple[int, ...]],
    counters: Counters,
    *,
    deepest: int = DEEPEST,
) -> Samples:
    sums = RowSums(most_rows=3)
    for one, count in with_stacks(rows, stacks, deepest=deepest):
        sums.add(one, count)
    return accounted(sums, counters)


@given(st.lists(ADDRESSES, max_size=DEEPEST), ADDRESSES)
def test_a_stack_ends_at_its_depth(addresses: list[int], old: int) -> None:
    beyond = [old] * (DEEPEST - len(addresses))
    assert parse_stack(STACK.pack(len(addresses), 0, *addresses, *beyond)) == tuple(addresses)


@given(st.integers(0, 2**32 - 1))
def test_a_stack_is_never_deeper_than_its_place(depth: int) -> None:
    assert len(parse_stack(STACK.pack(depth, 0, *range(DEEPEST)))) == min(depth, DEEPEST)


@given(st.lists(st.tuples(*[st.integers(0, 2**32)] * 8), min_size=1, max_size=8))
def test_counters_are_summed_over_cpus(cpus: list[tuple[int, ...]]) -> None:
    per_cpu = b"".join(COUNTERS.pack(*values) for values in cpus)
    assert sum_counters(per_cpu) == tuple(map(sum, zip(*cpus, strict=True)))


def test_the_thread_stands_above_the_owner_of_the_stack() -> None:
    key = ROW.pack(7, 3 | 4194303 << 8, 1, 0, 0, 0, 0, 0)
    ((found, _),) = with_stacks([(key, COUNT.pack(1))], {1: (5,)})
    assert (found.owner, found.thread) == ("borrowed", 4194303)


def test_rows_get_their_stacks_and_words() -> None:
    key = ROW.pack(7, 3, 1, 2, 0x40, 0x41, 0x7FFC, 4)
    samples = together(
        [(key, COUNT.pack(3))],
        {1: (0x10, 0x11), 2: (2**64 - 1,), 4: (0x20,)},
        NOTHING._replace(recorded=3),
    )
    waits = RawRow(
        7, (0x10, 0x11), (2**64 - 1,), (0x40, 0x41), 3, 0x7FFC, owner="borrowed", waiting=(0x20,)
    )
    assert samples.rows == (waits,)
    assert (samples.recorded, samples.lost) == (3, {})


def test_a_stack_as_deep_as_may_be_has_no_root() -> None:
    key = ROW.pack(7, 0, 1, 0, 0, 0, 0, 0)
    for deepest, cut in ((3, False), (2, True)):
        samples = together([(key, COUNT.pack(1))], {1: (5, 6)}, NOTHING, deepest=deepest)
        assert [one.cut for one in samples.rows] == [cut]


def test_a_row_without_its_stack_is_lost() -> None:
    rows = [row(7, 1, 0, 3), row(7, 0, 9, 4), row(7, 9, 0, 5)]
    samples = together(rows, {1: (0x10,)}, NOTHING._replace(recorded=12))
    assert (samples.recorded, samples.lost) == (3, {"unread": 9})


@given(st.integers(0, 1), st.integers(0, 9), st.integers(0, 9))
def test_a_row_has_the_turn_of_its_stacks(turn: int, user: int, kernel: int) -> None:
    stored = [(number << 2 | 2 | turn) if number else 0 for number in (user, kernel)]
    key = ROW.pack(7, 0, *stored, 0, 0, 0, 0)
    assert not any(stored) or turn_of(key) == turn


def test_what_the_program_lost_is_told_by_reason() -> None:
    counters = Counters(100, 50, 0, 0, 20, 15, 10, 5)
    samples = together([], {}, counters)
    assert samples.lost == {"no_stack": 20, "stacks_full": 15, "rows_full": 10, "map_busy": 5}


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 4), st.integers(1, 99))))
def test_every_sample_is_recorded_or_lost(found: list[tuple[int, int, int]]) -> None:
    total = sum(count for _, _, count in found)
    rows = [row(tgid, user, 0, count) for tgid, user, count in found]
    samples = together(rows, {1: (1,), 2: (2,), 3: (1,)}, NOTHING._replace(recorded=total))
    assert samples.recorded + sum(samples.lost.values()) == total
    assert sum(one.count for one in samples.rows) == samples.recorded
    assert set(samples.lost) <= {"unread", "session_full"}
    # Two hashes of one stack are one row.
    places = [(one.tgid, one.user) for one in samples.rows]
    assert len(places) == len(set(places))


def test_a_number_is_summed_over_cpus() -> None:
    assert sum_counts(COUNT.pack(3) + COUNT.pack(4)) == 7
