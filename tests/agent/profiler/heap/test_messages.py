from array import array

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.failures import InvalidAnswerError
from nemutator_agent.profiler.heap.messages import (
    LARGEST_ANSWER,
    CountedSite,
    MemoryAnswer,
    ProgramAnswer,
    ProgramQuestion,
    decode_memory,
    decode_program,
    decode_question,
    encode,
    sites_of,
)

from tests.fakes.heaps import PROGRAM, question


def memory(*words: int) -> MemoryAnswer:
    return MemoryAnswer(rate=1, collections=3, sites=array("Q", words).tobytes())


def test_questions_arrive_as_they_were_asked() -> None:
    for asked in (ProgramQuestion(), question()):
        assert decode_question(encode(asked)) == asked


def test_answers_arrive_as_they_were_given() -> None:
    assert decode_program(encode(PROGRAM)) == PROGRAM
    answer = memory(3, 1, 192, 64, 2, 0x11, 0x21, 1, 0, 8, 0, 0)
    assert decode_memory(encode(answer)) == answer
    assert list(sites_of(answer)) == [
        CountedSite(3, 1, 192, 64, (0x11, 0x21)),
        CountedSite(1, 0, 8, 0, ()),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        ProgramAnswer(version="x" * 300),
        ProgramAnswer(image="AB"),
        ProgramAnswer(image="abc"),
        ProgramAnswer(image="ab" * 65),
        ProgramAnswer(text=(5, 5)),
        ProgramAnswer(text=(0, 1 << 60)),
        ProgramAnswer(shift=-1),
        ProgramAnswer(buckets=tuple(range(1, 30))),
        ProgramAnswer(rates=(0,)),
        ProgramAnswer(cycles=(1 << 50,)),
    ],
)
def test_programs_that_cannot_be(answer: ProgramAnswer) -> None:
    with pytest.raises(InvalidAnswerError):
        decode_program(encode(answer))


@pytest.mark.parametrize(
    "answer",
    [
        memory(1, 0, 8, 0, 2, 0x11),
        memory(1, 0, 8),
        memory(1, 2, 8, 0, 0),
        memory(1, 0, 8, 9, 0),
        memory(1, 0, 1 << 61, 0, 0),
        memory(1, 0, 8, 0, 1 << 63),
        MemoryAnswer(sites=b"123"),
        MemoryAnswer(rate=-1),
        MemoryAnswer(collections=-2),
        MemoryAnswer(what="x" * 300),
    ],
)
def test_memories_that_cannot_be(answer: MemoryAnswer) -> None:
    with pytest.raises(InvalidAnswerError):
        decode_memory(encode(answer))


def test_answers_that_are_too_long() -> None:
    for decode in (decode_memory, decode_program):
        with pytest.raises(InvalidAnswerError, match="too long"):
            decode(b" " * (LARGEST_ANSWER + 1))


@given(st.binary(max_size=200) | st.recursive(
    st.none() | st.integers() | st.text(max_size=5),
    lambda inner: st.dictionaries(
        st.sampled_from(["flaw", "sites", "rate", "text", "buckets"]), inner, max_size=4
    ) | st.lists(inner, max_size=3),
).map(lambda one: msgspec.json.encode(one) if _fits(one) else b""))  # fmt: skip
def test_anything_is_an_answer_or_refused(content: bytes) -> None:
    for decode in (decode_memory, decode_program):
        try:
            decode(content)
        except InvalidAnswerError:
            continue


def _fits(one: object) -> bool:
    try:
        msgspec.json.encode(one)
    except (OverflowError, ValueError):
        return False
    return True
