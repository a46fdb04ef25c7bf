"""Programs that lie about their tables: an answer comes soon, within the budget, and is one."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.symbols import image
from nemutator_agent.profiler.symbols.lookup import Executable
from nemutator_agent.profiler.symbols.messages import (
    SymbolAnswer,
    SymbolQuestion,
    decode_answer,
    encode_answer,
)

from tests.agent.profiler.symbols.test_native import FUNCTION, library
from tests.fakes.go_programs import ADDRESS, MAIN, TEXT, Function, GoProgram

PLACES = tuple(TEXT + place for place in range(0, 0x70, 5))
CALLS = tuple(zip(PLACES, (*PLACES[1:], -1), strict=True))
QUESTION = SymbolQuestion(False, PLACES, PLACES, CALLS)
PROGRAMS = {
    "1.20": GoProgram(),
    "1.18": GoProgram(newer=False),
    "1.26": GoProgram(text_in_head=False),
    "no sections": GoProgram(sections=False),
}
CONTENTS = {name: program.build() for name, program in PROGRAMS.items()}
NAMES = st.sampled_from(sorted(CONTENTS))
TABLE_AT = 0x2000
MODULE_AT = 0x3000


class Reads:
    """A file that counts what is read of it."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.bytes = 0

    def __call__(self, offset: int, size: int) -> bytes:
        assert offset >= 0
        assert 0 < size <= 4 * image.BLOCK
        self.bytes += size
        return self.content[offset : offset + size]


def answered(content: bytes, question: SymbolQuestion = QUESTION) -> SymbolAnswer:
    executable = Executable(Reads(content))
    answer = executable.answer(question)
    assert decode_answer(encode_answer(answer), question) == answer
    return answer


@pytest.mark.parametrize("name", sorted(CONTENTS))
def test_the_true_ones_are_read(name: str) -> None:
    answer = answered(CONTENTS[name])
    assert None not in answer.places
    assert answer.notes == ()


@given(NAMES, st.integers(0, 0x3200))
def test_cut_anywhere(name: str, end: int) -> None:
    answered(CONTENTS[name][:end])


@given(
    NAMES,
    st.lists(
        st.tuples(
            # The head and the segments, the tables, the module.
            st.integers(0, 240)
            | st.integers(TABLE_AT, TABLE_AT + 700)
            | st.integers(MODULE_AT, MODULE_AT + 512),
            st.integers(0, 255),
        ),
        min_size=1,
        max_size=20,
    ),
)
def test_bytes_changed_where_it_hurts(name: str, changes: list[tuple[int, int]]) -> None:
    forged = bytearray(CONTENTS[name])
    for position, value in changes:
        forged[position] = value
    answered(bytes(forged))


@given(NAMES, st.integers(0, 175), st.sampled_from([0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF]))
def test_words_of_the_tables_that_are_extreme(name: str, word: int, value: int) -> None:
    forged = bytearray(CONTENTS[name])
    struct.pack_into("<I", forged, TABLE_AT + 4 * word, value)
    answered(bytes(forged))


@pytest.mark.parametrize("field", range(8))
@pytest.mark.parametrize("value", [0, 1, 2**31, 2**40, 2**63, 2**64 - 1])
def test_heads_that_are_extreme(field: int, value: int) -> None:
    for content in CONTENTS.values():
        forged = bytearray(content)
        struct.pack_into("<Q", forged, TABLE_AT + 8 + 8 * field, value)
        answered(bytes(forged))


@pytest.mark.parametrize("call", [0, 0x10, 0x13, -1, 2**31 - 1])
def test_inlined_calls_in_a_circle(call: int) -> None:
    circle = Function(
        MAIN.name,
        MAIN.size,
        MAIN.files,
        MAIN.lines,
        inlined=[(0, 0x20), (1, 0x20)],
        tree=[("f", 0x30, 1), ("g", call, 1)],
    )
    answered(GoProgram(functions=(circle,)).build())


def test_values_beyond_all_lines() -> None:
    lines = [(number, 1) for number in (1 << 33, 1 << 34, (1 << 34) + 5)]
    far = Function("main.far", 3, [(0, 3)], lines, depths=lines)
    answer = answered(
        GoProgram(functions=(far,)).build(), SymbolQuestion(False, (TEXT,), (TEXT + 1,))
    )
    assert (answer.places, answer.depths) == ((None,), (-1,))


@pytest.mark.slow
def test_tables_of_values_that_go_on_and_on_end_with_the_effort() -> None:
    """One byte of code for each pair: every question walks the whole table."""
    size = 60_000
    lines = [(number % 2, 1) for number in range(size)]
    long = Function("main.long", size, [(0, size)], lines, depths=lines, inlined=lines)
    content = GoProgram(functions=(long,)).build()
    places = tuple(range(TEXT + size - 512, TEXT + size))
    answer = answered(content, SymbolQuestion(False, places, places))
    assert answer.notes == ("no_inlines", "too_much")


def test_a_file_full_of_signs_is_searched_once() -> None:
    head = bytearray(CONTENTS["no sections"][:TABLE_AT])
    body = b"\xf1\xff\xff\xff\0\0\1\x08" * (1 << 17)
    struct.pack_into("<QQQQQ", head, 64 + 56 + 8, 0x2000, ADDRESS + 0x2000, 0, len(body), len(body))
    reads = Reads(bytes(head) + body)
    answer = Executable(reads).answer(QUESTION)
    assert set(answer.places) == {None}
    assert reads.bytes < 64 << 20


def test_segments_that_are_all_of_the_file_many_times() -> None:
    segment = struct.pack("<IIQQQQQQ", 1, 6, 0, 0, 0, 2**62, 2**62, 16)
    head = bytearray(CONTENTS["no sections"][:64])
    struct.pack_into("<HH", head, 54, 56, 128)
    reads = Reads(bytes(head) + segment * 128 + bytes(4 << 20))
    Executable(reads).answer(QUESTION)
    assert reads.bytes < 512 << 20


@pytest.mark.parametrize("offset", [2**62, 2**63 - 1, 2**63, 2**64 - 1])
def test_segments_at_places_that_no_file_has(offset: int) -> None:
    for content in CONTENTS.values():
        for number in range(3):
            forged = bytearray(content)
            struct.pack_into("<QQ", forged, 64 + 56 * number + 8, offset, ADDRESS + TEXT)
            answered(bytes(forged), SymbolQuestion(False, (*PLACES, offset, offset + 1)))


@given(st.binary(max_size=3000))
def test_noise_behind_a_true_head(noise: bytes) -> None:
    answered(CONTENTS["1.20"][:232] + noise)
    answered(CONTENTS["1.20"][:TABLE_AT] + noise)


SYMBOLS = library([(f"f{n}", ADDRESS + 0xC0 + n, 9, FUNCTION) for n in range(20)])


@given(st.lists(st.tuples(st.integers(0, len(SYMBOLS) - 1), st.integers(0, 255)), max_size=20))
def test_tables_of_symbols_that_lie(changes: list[tuple[int, int]]) -> None:
    forged = bytearray(SYMBOLS)
    forged[68] = 5
    for position, value in changes:
        forged[position] = value
    answered(bytes(forged), SymbolQuestion(False, tuple(range(0xC0, 0x100))))
