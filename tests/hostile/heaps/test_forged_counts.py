"""Memories that lie about what Go's runtime has counted: an answer comes, within the budget, and is one."""

import struct

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.heap.answers import MOST_COUNT_BYTES, about_counts
from nemutator_agent.profiler.heap.messages import (
    CountAnswer,
    CountQuestion,
    decode_counts,
    encode,
)

from tests.fakes.heaps import COUNTS, PLACES, PROCESSORS, counted, reader

EXTREME = st.sampled_from([0, 1, 7, 8, 2**31, 2**32, 2**47, 2**48, 2**60, 2**63, 2**64 - 1])
WORDS = st.sampled_from([0, 8, 24, 32, 40, 48, 8192 - 4104, 8192])
ONE_OF_ALLP = PROCESSORS - 65536


class Reads:
    """Memory that counts what is read of it."""

    def __init__(self, pieces: dict[int, bytes]) -> None:
        self._read = reader(pieces)
        self.bytes = 0

    def __call__(self, address: int, size: int) -> bytes:
        # Where a file of the kernel can be read at all.
        assert 0 <= address < 1 << 63
        self.bytes += size
        return self._read(address, size)


def answered(pieces: dict[int, bytes]) -> CountAnswer:
    reads = Reads(pieces)
    answer = about_counts(reads, CountQuestion(PLACES))
    assert reads.bytes <= MOST_COUNT_BYTES
    assert decode_counts(encode(answer)) == answer
    return answer


def test_the_true_ones_are_read() -> None:
    assert answered(counted()).flaw == ""


@given(st.lists(st.tuples(WORDS, EXTREME), min_size=1, max_size=4))
def test_counts_that_are_extreme(changes: list[tuple[int, int]]) -> None:
    pieces = counted()
    variables = bytearray(pieces[COUNTS])
    for place, value in changes:
        struct.pack_into("<Q", variables, place, value)
    answered({**pieces, COUNTS: bytes(variables)})


@given(st.lists(EXTREME, min_size=2, max_size=2))
def test_processors_that_are_anywhere(addresses: list[int]) -> None:
    answered({**counted(), ONE_OF_ALLP: struct.pack("<2Q", *addresses)})
