"""Memories that lie about their heap profile: an answer comes, within the budget, and is one."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.heap.answers import about_memory, about_program
from nemutator_agent.profiler.heap.buckets import DEEPEST, MOST_SITES
from nemutator_agent.profiler.heap.messages import (
    MemoryAnswer,
    MemoryQuestion,
    decode_memory,
    decode_program,
    encode,
    sites_of,
)

from tests.agent.profiler.symbols.files import reader as file_reader
from tests.fakes.go_programs import Function, GoProgram
from tests.fakes.heaps import NEW, OLD, SITES, VARIABLES, Bucket, heap, question, reader

CHAIN = [Bucket(), Bucket(size=4096, stack=(0x400031,) * 30), Bucket(active=(9, 9))]
HEAPS = {"1.26": (heap(CHAIN), question(OLD)), "1.27": (heap(CHAIN, layout=NEW), question(NEW))}
KINDS = st.sampled_from(sorted(HEAPS))
EXTREME = st.sampled_from([0, 1, 7, 8, 2**31, 2**32, 2**47, 2**48, 2**60, 2**63, 2**64 - 1])


class Reads:
    """Memory that counts what is read of it."""

    def __init__(self, pieces: dict[int, bytes]) -> None:
        self._read = reader(pieces)
        self.bytes = 0

    def __call__(self, address: int, size: int) -> bytes:
        assert address >= 0
        assert 0 < size <= 64 << 10
        self.bytes += size
        return self._read(address, size)


def answered(pieces: dict[int, bytes], asked: MemoryQuestion) -> MemoryAnswer:
    reads = Reads(pieces)
    answer = about_memory(reads, asked)
    assert reads.bytes <= 512 << 20
    assert decode_memory(encode(answer)) == answer
    assert len(list(sites_of(answer))) <= MOST_SITES
    return answer


@pytest.mark.parametrize("kind", sorted(HEAPS))
def test_the_true_ones_are_read(kind: str) -> None:
    answer = answered(*HEAPS[kind])
    assert answer.flaw == ""
    assert len(list(sites_of(answer))) == len(CHAIN)


@given(KINDS, st.lists(st.tuples(st.integers(0, 74), EXTREME), min_size=1, max_size=8))
def test_words_that_are_extreme(kind: str, changes: list[tuple[int, int]]) -> None:
    pieces, asked = HEAPS[kind]
    forged = bytearray(pieces[SITES])
    for word, value in changes:
        if 8 * word + 8 <= len(forged):
            struct.pack_into("<Q", forged, 8 * word, value)
    answered(pieces | {SITES: bytes(forged)}, asked)


@given(KINDS, st.tuples(EXTREME, EXTREME, EXTREME))
def test_variables_that_are_extreme(kind: str, values: tuple[int, int, int]) -> None:
    pieces, asked = HEAPS[kind]
    answered(pieces | {VARIABLES: struct.pack("<QQQ", *values)}, asked)


@given(KINDS, st.binary(max_size=800))
def test_noise_where_sites_should_be(kind: str, noise: bytes) -> None:
    pieces, asked = HEAPS[kind]
    answered(pieces | {SITES: noise}, asked)


@given(KINDS, st.integers(0, 700))
def test_memory_that_ends_anywhere(kind: str, end: int) -> None:
    pieces, asked = HEAPS[kind]
    answered(pieces | {SITES: pieces[SITES][:end]}, asked)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_loops_end(length: int) -> None:
    pieces = heap([Bucket()] * length)
    looped = bytearray(pieces[SITES])
    last = len(looped) // length * (length - 1)
    struct.pack_into("<Q", looped, last + 8, SITES)
    answer = answered(pieces | {SITES: bytes(looped)}, question())
    assert answer.flaw == "forged"
    assert "leads back" in answer.what


def test_counts_of_two_to_the_sixtieth_are_named() -> None:
    pieces = heap([Bucket(size=1, active=(1 << 60, 0))])
    assert "fewer objects" in answered(pieces, question()).what


class Endless:
    """Memory that is a site wherever it is read, each further on: a process may map terabytes."""

    def __init__(self, depth: int) -> None:
        self.bytes = 0
        self._site = Bucket(stack=(0x400011,) * depth)

    def __call__(self, address: int, size: int) -> bytes:
        self.bytes += size
        if address <= VARIABLES < address + size:
            return heap([self._site])[VARIABLES].rjust(VARIABLES - address + 24, b"\0")
        # The beginning of each block is a site, whose next is the next block.
        return self._site.packed(address + size, OLD).ljust(size, b"\0")


@pytest.mark.parametrize("depth", [1, DEEPEST])
def test_sites_without_end_take_a_budget(depth: int) -> None:
    memory = Endless(depth)
    answer = about_memory(memory, question())
    assert answer.flaw == "too_much" or answer.left_out
    assert memory.bytes <= 512 << 20
    assert decode_memory(encode(answer)) == answer


@given(st.lists(st.tuples(st.integers(0, 0x3200), st.integers(0, 255)), max_size=20))
def test_programs_that_lie(changes: list[tuple[int, int]]) -> None:
    runtime = [Function(f"runtime.{name}", 0x20) for name in ("allocmcache", "MemProfile")]
    forged = bytearray(GoProgram(functions=tuple(runtime)).build())
    for position, value in changes:
        if position < len(forged):
            forged[position] = value
    answer = about_program(file_reader(bytes(forged)))
    assert decode_program(encode(answer)) == answer
