import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.bounded_file import TooMuchError
from nemutator_agent.inspection.elf import NotElfError
from nemutator_agent.profiler.symbols.image import (
    BLOCK,
    EXECUTABLE,
    MOST_BLOCKS,
    WRITABLE,
    DamagedError,
    Effort,
    Image,
)

from tests.agent.profiler.symbols.files import image
from tests.fakes.go_programs import ADDRESS, TEXT, GoProgram

PROGRAM = GoProgram().build()
LONG = PROGRAM + bytes(range(256)) * (3 * BLOCK // 256) + b"end"


@given(st.integers(-10, len(LONG) + 10), st.integers(-1, 3 * BLOCK))
def test_reading_is_as_from_the_file_itself(offset: int, size: int) -> None:
    expected = LONG[offset : offset + size] if offset >= 0 and size > 0 else b""
    assert image(LONG).read(offset, size) == expected


def test_few_blocks_are_kept() -> None:
    asked: list[int] = []

    def read_at(offset: int, size: int) -> bytes:
        asked.append(offset)
        return PROGRAM[offset : offset + size].ljust(size, b"\0")

    file = Image(read_at)
    for number in range(MOST_BLOCKS + 1):
        file.read(number * BLOCK, 1)
    before = len(asked)
    file.read(MOST_BLOCKS * BLOCK, 1)
    assert len(asked) == before
    file.read(0, 1)
    assert len(asked) == before + 1


def test_addresses_and_offsets_are_each_others_inverse() -> None:
    file = image(PROGRAM)
    assert file.offset_of(ADDRESS + TEXT + 5) == TEXT + 5
    assert file.address_of(TEXT + 5) == ADDRESS + TEXT + 5
    assert file.address_of(TEXT + 5, flags=EXECUTABLE) == ADDRESS + TEXT + 5
    assert file.address_of(TEXT + 5, flags=WRITABLE) is None
    with pytest.raises(DamagedError):
        file.offset_of(5)


def test_a_text_has_an_end_or_is_refused() -> None:
    content = PROGRAM + b"a" * 200 + b"\0" + b"b" * 5000
    file = image(content)
    assert file.text(len(PROGRAM)) == "a" * 200
    with pytest.raises(DamagedError):
        file.text(len(PROGRAM) + 201)
    with pytest.raises(DamagedError):
        file.unpacked(struct.Struct("<Q"), len(content) - 3)


def test_a_search_finds_what_lies_across_two_steps() -> None:
    wanted = b"needle"
    content = bytearray(PROGRAM + bytes(8 * BLOCK))
    for position in (len(PROGRAM), 4 * BLOCK - 3 + 0x2000):
        content[position : position + 6] = wanted
    segment = image(PROGRAM).loaded[1]
    whole = type(segment)(1, 4, 0x2000, 0, len(content))
    found = list(image(bytes(content)).search(wanted, (whole,), most=1 << 30))
    assert found == sorted({len(PROGRAM), 4 * BLOCK - 3 + 0x2000})


def test_a_search_has_one_limit_for_all_segments() -> None:
    content = bytearray(PROGRAM.ljust(0x8000, b"\0"))
    content[0x7800:0x7806] = b"needle"
    first = image(PROGRAM).loaded[1]
    segments = tuple(type(first)(1, 4, at, 0, 0x1000) for at in (0x6000, 0x7000))
    assert list(image(bytes(content)).search(b"needle", segments, most=0x1806)) == [0x7800]
    assert list(image(bytes(content)).search(b"needle", segments, most=0x1805)) == []


def test_an_effort_may_be_spent_to_the_last_step() -> None:
    effort = Effort(10)
    effort.spend(4)
    effort.spend(6)
    with pytest.raises(TooMuchError):
        effort.spend(1)


def test_effort_ends() -> None:
    file = image(LONG)
    file.effort.renew(100)
    with pytest.raises(TooMuchError):
        file.read(2 * BLOCK, 1)
    file.effort.renew()
    assert len(file.read(2 * BLOCK, 1)) == 1


def test_what_is_no_elf_is_said() -> None:
    with pytest.raises(NotElfError):
        image(b"#!/bin/sh\n")
