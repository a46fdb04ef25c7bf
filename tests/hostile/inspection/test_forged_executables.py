"""Executables that lie: whatever they say, the answer is a detected, soon and within the budget."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.detected_runtime import DetectedRuntime, decode, encode
from nemutator_agent.inspection.examination import BUDGET_BYTES, BUDGET_READS, examine

from tests.fakes.elf_files import Forge, inline_info

TRUE = Forge(
    contents=[(b".data", bytes(64)), (b".go.buildinfo", inline_info(b"go1.26.8"))],
    needed=(b"libc.so.6",),
).build()


def examined(content: bytes) -> DetectedRuntime:
    asked = [0, 0]

    def read_at(offset: int, size: int) -> bytes:
        asked[0] += size
        asked[1] += 1
        return content[offset : offset + size]

    detected = examine(read_at)
    assert asked[0] <= BUDGET_BYTES
    assert asked[1] <= BUDGET_READS
    assert decode(encode(detected)) == detected
    return detected


def test_the_true_one_is_known() -> None:
    assert examined(TRUE) == DetectedRuntime("go", "go1.26.8")


@given(st.integers(0, len(TRUE)))
def test_cut_anywhere(end: int) -> None:
    examined(TRUE[:end])


@given(st.lists(st.tuples(st.integers(0, len(TRUE) - 1), st.integers(0, 255)), max_size=30))
def test_bytes_changed_anywhere(changes: list[tuple[int, int]]) -> None:
    forged = bytearray(TRUE)
    for position, value in changes:
        forged[position] = value
    examined(bytes(forged))


@given(st.binary(max_size=2000))
def test_noise_behind_a_true_magic(noise: bytes) -> None:
    examined(TRUE[:20] + noise)


# e_phoff, e_shoff, e_phentsize, e_phnum, e_shentsize, e_shnum, e_shstrndx
FIELDS = {32: "Q", 40: "Q", 54: "H", 56: "H", 58: "H", 60: "H", 62: "H"}


@pytest.mark.parametrize("position", FIELDS)
@pytest.mark.parametrize("share", [0, 1, 0.25, 0.5])
def test_forged_tables(position: int, share: float) -> None:
    kind = FIELDS[position]
    largest = 2 ** (8 * struct.calcsize(kind)) - 1
    forged = bytearray(TRUE)
    struct.pack_into("<" + kind, forged, position, int(largest * share) if share < 1 else largest)
    examined(bytes(forged))


def test_tables_that_overlap_the_head_and_each_other() -> None:
    forged = bytearray(TRUE)
    struct.pack_into("<QQ", forged, 32, 1, 1)
    examined(bytes(forged))


def test_a_file_of_section_headers_only() -> None:
    forged = bytearray(TRUE[:64]) + b"\xff" * 200_000
    struct.pack_into("<H", forged, 60, 65_535)
    examined(bytes(forged))


def test_segments_that_are_all_of_the_file_many_times() -> None:
    """Every segment claims to be writable data of the largest size: the search has one budget."""
    segment = struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, 2**62, 2**62, 16)
    head = bytearray(TRUE[:64])
    struct.pack_into("<QQ", head, 32, 64, 0)
    struct.pack_into("<HHHHH", head, 54, 56, 128, 64, 0, 0)
    examined(bytes(head) + segment * 128 + bytes(4 << 20))
