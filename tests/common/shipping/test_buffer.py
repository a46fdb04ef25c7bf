from collections import Counter

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.shipping.batches import encode_reports
from nemutator_common.shipping.buffer import Buffer
from nemutator_common.wire import LARGEST_BATCH_BYTES

from tests.fakes.reports import report

RECORD = msgspec.json.encode(report())
SIZE = len(RECORD)


def test_the_oldest_go_and_their_numbers_with_them() -> None:
    buffer = Buffer(most=2, most_bytes=1 << 20)
    assert [buffer.put(RECORD) for _ in range(4)] == [0, 0, 1, 1]
    assert [seq for seq, _ in buffer.first(most=9, most_bytes=1 << 20)] == [3, 4]


def test_a_report_that_no_batch_can_hold_is_dropped_at_once() -> None:
    buffer = Buffer(most=2, most_bytes=1 << 30)
    assert buffer.put(b"x" * LARGEST_BATCH_BYTES) == 1
    assert len(buffer) == 0
    assert buffer.last_seq == 1


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(1, 5), st.integers(1, 6))
def test_it_never_holds_more_than_it_may(steps: list[int], most: int, sizes: int) -> None:
    most_bytes = sizes * SIZE + 2000
    buffer = Buffer(most=most, most_bytes=most_bytes)
    dropped = 0
    for step in steps:
        if step:
            dropped += buffer.put(RECORD)
        else:
            buffer.forget(up_to=buffer.last_seq)
        assert len(buffer) <= most
        assert 0 <= buffer.size_bytes <= most_bytes
    numbers = [seq for seq, _ in buffer.first(most=99, most_bytes=1 << 20)]
    assert numbers == list(range(buffer.last_seq - len(numbers) + 1, buffer.last_seq + 1))


@given(st.integers(1, 30), st.integers(1, 10), st.integers(0, 10_000))
def test_a_batch_keeps_to_its_bounds_and_holds_at_least_one(
    waiting: int, most: int, most_bytes: int
) -> None:
    buffer = Buffer(most=100, most_bytes=1 << 20)
    for _ in range(waiting):
        buffer.put(RECORD)
    first = buffer.first(most=most, most_bytes=most_bytes)
    assert 1 <= len(first) <= most
    assert len(first) == 1 or len(encode_reports("n" * 253, "e" * 64, first)) <= most_bytes


def test_who_has_most_in_it_makes_room_and_nobody_else() -> None:
    buffer = Buffer(most=10, most_bytes=1 << 20)
    for source in ("a", "b"):
        buffer.put(RECORD, source=source)
    dropped = sum(buffer.put(RECORD, source="greedy") for _ in range(100))
    waiting = [seq for seq, _ in buffer.first(most=99, most_bytes=1 << 20)]
    assert dropped == 92
    assert waiting == [1, 2, *range(95, 103)]


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 40)), max_size=80))
def test_it_is_always_the_greediest_who_makes_room(puts: list[tuple[str, int]]) -> None:
    buffer = Buffer(most=12, most_bytes=1 << 20)
    waiting: dict[int, tuple[str, int]] = {}
    for source, size in puts:
        if not size:
            buffer.forget(up_to=buffer.last_seq - 5)
            waiting = {seq: one for seq, one in waiting.items() if seq > buffer.last_seq - 5}
            continue
        dropped = buffer.put(b"x" * size, source=source)
        waiting[buffer.last_seq] = (source, size)
        left = {seq for seq, _ in buffer.first(most=99, most_bytes=1 << 20)}
        gone = waiting.keys() - left
        assert len(gone) == dropped <= 1
        for seq in gone:
            held: Counter[str] = Counter()
            for of, its_size in waiting.values():
                held[of] += its_size
            assert held[waiting[seq][0]] == max(held.values())
            del waiting[seq]
        assert waiting.keys() == left


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 40)), max_size=60),
    st.integers(0, 60),
)
def test_it_counts_what_each_source_has(puts: list[tuple[str, int]], up_to: int) -> None:
    buffer = Buffer(most=12, most_bytes=2000)
    for source, size in puts:
        buffer.put(b"x" * size, source=source)
    buffer.forget(up_to=up_to)
    waiting = buffer.first(most=99, most_bytes=1 << 20)
    assert buffer.size_bytes == sum(len(record) for _, record in waiting)
    assert [seq for seq, _ in waiting] == sorted(seq for seq, _ in waiting)
    assert all(seq > up_to for seq, _ in waiting)
    buffer.forget(up_to=buffer.last_seq)
    assert (len(buffer), buffer.size_bytes) == (0, 0)
