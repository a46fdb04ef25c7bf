import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.heap.memory import (
    BLOCK,
    PAGE,
    Memory,
    TooMuchError,
    UnmappedError,
)

from tests.fakes.heaps import reader

CONTENT = bytes(range(256)) * (3 * BLOCK // 256)


@given(st.integers(0, len(CONTENT) - 1), st.integers(1, BLOCK))
def test_what_is_mapped_is_read_wherever_it_lies(place: int, size: int) -> None:
    start = 5 * BLOCK
    memory = Memory(reader({start: CONTENT}))
    if place + size <= len(CONTENT):
        assert memory.read(start + place, size) == CONTENT[place : place + size]
    else:
        with pytest.raises(UnmappedError):
            memory.read(start + place, size)


def test_a_block_of_which_only_the_end_is_mapped_is_read_by_pages() -> None:
    start = 7 * BLOCK + 3 * PAGE
    memory = Memory(reader({start: b"\1" * 2 * PAGE}))
    assert memory.read(start + 5, 8) == b"\1" * 8
    assert memory.word(start) == 0x0101010101010101
    assert memory.half(start) == 0x01010101
    assert memory.words(start, 2) == (0x0101010101010101,) * 2
    with pytest.raises(UnmappedError):
        memory.read(start - 1, 1)


def test_it_is_read_once_until_it_is_forgotten() -> None:
    pieces = {0: bytes(BLOCK)}
    memory = Memory(reader(pieces))
    assert memory.word(64) == 0
    pieces[0] = b"\1" * BLOCK
    assert memory.word(64) == 0
    memory.forget()
    assert memory.word(64) != 0


def test_it_ends_with_its_budget() -> None:
    memory = Memory(reader({0: CONTENT}), most_bytes=2 * BLOCK)
    memory.read(0, 2 * BLOCK)
    with pytest.raises(TooMuchError):
        memory.read(2 * BLOCK, 1)


@pytest.mark.parametrize("address", [1 << 63, (1 << 64) - 1, (1 << 64) - 4096])
def test_no_address_is_too_large_to_be_unmapped(address: int) -> None:
    with pytest.raises(UnmappedError):
        Memory(reader({0: CONTENT})).read(address, 8)
