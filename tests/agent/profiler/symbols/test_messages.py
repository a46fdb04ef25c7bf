import json
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.failures import InvalidAnswerError
from nemutator_agent.profiler.symbols.messages import (
    LARGEST_ANSWER,
    LARGEST_QUESTION,
    MOST_ADDRESSES,
    Note,
    SymbolAnswer,
    SymbolQuestion,
    decode_answer,
    decode_question,
    encode_answer,
    encode_question,
)
from nemutator_common.profiles.model import Frame

from tests.common.profiles.made import FRAMES

PLACES = st.integers(0, 1 << 40)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[SymbolQuestion, SymbolAnswer]:
    places = draw(st.lists(PLACES, max_size=8))
    depths = draw(st.lists(PLACES, max_size=3))
    frames = tuple(draw(st.lists(FRAMES, min_size=1, max_size=5)))
    stacks = st.none() | st.lists(st.integers(0, len(frames) - 1), max_size=4).map(tuple)
    answer = SymbolAnswer(
        frames,
        tuple(draw(stacks) for _ in places),
        tuple(draw(st.integers(-1, 1 << 20)) for _ in depths),
        draw(st.none() | st.just((16, 32))),
        tuple(draw(st.lists(st.sampled_from(get_args(Note)), unique=True))),
        draw(st.binary(max_size=20)).hex(),
        draw(PLACES),
    )
    return SymbolQuestion(draw(st.booleans()), tuple(places), tuple(depths)), answer


@given(conversations())
def test_what_is_said_is_understood(conversation: tuple[SymbolQuestion, SymbolAnswer]) -> None:
    question, answer = conversation
    assert decode_question(encode_question(question)) == question
    assert decode_answer(encode_answer(answer), question) == answer


def test_the_largest_question_fits_into_a_message() -> None:
    places = (1 << 62,) * MOST_ADDRESSES
    assert len(encode_question(SymbolQuestion(False, places, places))) <= LARGEST_QUESTION


ASKED = SymbolQuestion(False, (1,), (1,))
TRUE = SymbolAnswer((Frame("f", kind="go"),), ((0,),), (8,), (1, 2), ("no_inlines",))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, None),
        (0, [["f", "", 0, 0, "ghost", False]]),
        (0, [["f", "", 0, 0, "go", 1]]),
        (0, [["f", "", -1, 0, "go", False]]),
        (0, [["f" * 5000, "", 0, 0, "go", False]]),
        (0, [["f", "", True, 0, "go", False]]),
        (0, [["f"]]),
        (0, []),
        (1, [[1]]),
        (1, [[-1]]),
        (1, []),
        (1, [[0], [0]]),
        (1, ["x"]),
        (2, []),
        (2, [1 << 40]),
        (2, [1.5]),
        (3, [1]),
        (3, [2, 1]),
        (3, [-1, 1]),
        (4, ["a note of its own"]),
        (4, [7]),
        (4, ["hidden"] * 20),
        (5, None),
        (5, "0g"),
        (5, "00" * 65),
        (6, -1),
        (6, 1 << 63),
    ],
)
def test_an_answer_that_the_question_could_not_have_is_refused(place: int, value: object) -> None:
    said = json.loads(encode_answer(TRUE))
    assert decode_answer(json.dumps(said).encode(), ASKED) == TRUE
    said[place] = value
    with pytest.raises(InvalidAnswerError):
        decode_answer(json.dumps(said).encode(), ASKED)


@pytest.mark.parametrize("content", [b"", b"{}", b"[[[[", b"\xff", b"[" * 100_000, b"[1,2]"])
def test_what_is_no_answer_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidAnswerError):
        decode_answer(content, ASKED)


def test_an_answer_that_is_too_long_is_not_even_read() -> None:
    with pytest.raises(InvalidAnswerError, match="too long"):
        decode_answer(b" " * (LARGEST_ANSWER + 1), ASKED)


@given(st.binary())
def test_noise_is_refused(noise: bytes) -> None:
    with pytest.raises(InvalidAnswerError):
        decode_answer(noise, ASKED)
