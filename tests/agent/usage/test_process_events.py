import struct

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.process_events import FORK, Began, parse_events, starts_by_group


def event(parent: int, child: int, *, thread: int | None = None, what: int = FORK) -> bytes:
    body = struct.pack("=IIIIHH", 1, 1, 0, 0, 40, 0) + struct.pack("=IIQ", what, 0, 9)
    body += struct.pack("=IIII", parent, parent, thread or child, child)
    return struct.pack("=IHHII", 16 + len(body), 3, 0, 0, 0) + body


def test_new_processes_are_told_and_new_threads_are_not() -> None:
    assert list(parse_events(event(7, 8))) == [Began(7, 8)]
    assert list(parse_events(event(7, 8) + event(8, 9))) == [Began(7, 8), Began(8, 9)]
    assert list(parse_events(event(7, 8, thread=9))) == []
    assert list(parse_events(event(7, 8, what=2))) == []


def test_one_that_is_gone_belongs_to_where_its_parents_are() -> None:
    began = [Began(1, 10), Began(10, 11), Began(11, 12), Began(99, 13)]
    assert starts_by_group(began, {1: "/a", 12: "/b"}) == {"/a": 2, "/b": 1}


def test_parents_that_go_in_circles_end() -> None:
    assert starts_by_group([Began(2, 1), Began(1, 2)], {}) == {}


@given(st.binary(max_size=300))
def test_any_bytes_are_taken_apart_in_bounded_time(content: bytes) -> None:
    for datagram in (content, event(1, 2) + content):
        assert len(list(parse_events(datagram))) <= len(datagram) // 36


@given(st.lists(st.builds(Began, st.integers(0, 9), st.integers(0, 9)), max_size=30))
def test_no_start_is_counted_twice(began: list[Began]) -> None:
    found = starts_by_group(began, {0: "/a", 1: "/b"})
    assert sum(found.values()) <= len(began)
