import json
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.failures import InvalidAnswerError
from nemutator_agent.profiler.printable_text import printable
from nemutator_agent.profiler.symbols.messages import (
    LARGEST_ANSWER,
    LARGEST_QUESTION,
    LONGEST_TEXT,
    MOST_ADDRESSES,
    MOST_FRAMES,
    Note,
    SymbolAnswer,
    SymbolQuestion,
    decode_answer,
    decode_question,
    encode_answer,
    encode_question,
)
from nemutator_common.profiles.grade import Verdict
from nemutator_common.profiles.model import Frame

from tests.common.profiles.made import FRAMES

PLACES = st.integers(0, 1 << 40)


def _shown(frame: Frame) -> Frame:
    """As the worker writes it."""
    function = printable(frame.function, longest=LONGEST_TEXT)
    return replace(frame, function=function, file=printable(frame.file, longest=LONGEST_TEXT))


@st.composite
def conversations(draw: st.DrawFn) -> tuple[SymbolQuestion, SymbolAnswer]:
    places = draw(st.lists(PLACES, max_size=8))
    depths = draw(st.lists(PLACES, max_size=3))
    frames = tuple(draw(st.lists(FRAMES.map(_shown), min_size=1, max_size=5)))
    calls = draw(st.lists(st.tuples(PLACES, PLACES), max_size=3))
    stacks = st.none() | st.lists(st.integers(0, len(frames) - 1), max_size=4).map(tuple)
    answer = SymbolAnswer(
        frames,
        tuple(draw(stacks) for _ in places),
        tuple(draw(st.integers(-1, 1 << 20)) for _ in depths),
        draw(st.none() | st.just((16, 32))),
        tuple(draw(st.lists(st.sampled_from(get_args(Note)), unique=True))),
        draw(st.binary(max_size=20)).hex(),
        draw(PLACES),
        tuple(draw(st.sampled_from(get_args(Verdict))) for _ in calls),
        draw(st.sampled_from(["", "shop.debug"])),
    )
    return SymbolQuestion(draw(st.booleans()), tuple(places), tuple(depths), tuple(calls)), answer


@given(conversations())
def test_questions_and_answers_are_read_as_they_were_written(
    conversation: tuple[SymbolQuestion, SymbolAnswer],
) -> None:
    question, answer = conversation
    assert decode_question(encode_question(question)) == question
    assert decode_answer(encode_answer(answer), question) == answer


def test_the_largest_question_fits_into_a_message() -> None:
    places = (1 << 62,) * MOST_ADDRESSES
    assert len(encode_question(SymbolQuestion(False, places, places))) <= LARGEST_QUESTION
    calls = tuple(zip(places, places, strict=True))
    assert len(encode_question(SymbolQuestion(False, calls=calls))) <= LARGEST_QUESTION


ASKED = SymbolQuestion(False, (1,), (1,))
TRUE = SymbolAnswer((Frame("f", kind="go"),), ((0,),), (8,), (1, 2), ("no_inlines",))


def frame(**changed: object) -> list[dict[str, object]]:
    true = {"function": "f", "file": "", "line": 0, "start_line": 0, "kind": "go"}
    return [true | {"inlined": False, "address": 0, "binary": None} | changed]


BINARY = {"file": "/bin/sh", "build_id": "", "start": 0, "limit": 0, "offset": 0}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("frames", None),
        ("frames", [["f", "", 0, 0, "go", False]]),
        ("frames", frame(kind="ghost")),
        ("frames", frame(inlined=1)),
        ("frames", frame(line=-1)),
        ("frames", frame(line=(1 << 32) + 1)),
        ("frames", frame(line=True)),
        ("frames", frame(start_line=-1)),
        ("frames", frame(start_line=(1 << 32) + 1)),
        ("frames", frame(function="f" * (LONGEST_TEXT + 1))),
        ("frames", frame(function="\x1b[2J")),
        ("frames", frame(file="a\nb")),
        ("frames", frame(file="f" * (LONGEST_TEXT + 1))),
        ("frames", frame(address=1)),
        ("frames", frame(binary=BINARY)),
        ("frames", frame() * (MOST_FRAMES + 1)),
        ("frames", []),
        ("places", [[1]]),
        ("places", [[-1]]),
        ("places", []),
        ("places", [[0], [0]]),
        ("places", ["x"]),
        ("depths", []),
        ("depths", [8, 8]),
        ("depths", [(1 << 62) + 1]),
        ("depths", [-(1 << 62) - 1]),
        ("depths", [1.5]),
        ("calls", ["direct"]),
        ("calls", ["sideways"]),
        ("text", [1]),
        ("text", [2, 1]),
        ("text", [2, 2]),
        ("text", [-1, 1]),
        ("text", [0, (1 << 62) + 1]),
        ("notes", ["a note of its own"]),
        ("notes", [7]),
        ("notes", ["hidden"] * 20),
        ("build_id", None),
        ("build_id", "0g"),
        ("build_id", "000"),
        ("build_id", "00" * 65),
        ("shift", -1),
        ("shift", (1 << 62) + 1),
        ("shift", 1 << 70),
    ],
)
def test_an_answer_that_the_question_could_not_have_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidAnswerError):
        decode_answer(changed(name, value), ASKED)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("frames", frame(function="f" * LONGEST_TEXT, file="f" * LONGEST_TEXT)),
        ("frames", frame(line=1 << 32, start_line=1 << 32)),
        ("frames", frame() * MOST_FRAMES),
        ("places", [None]),
        ("depths", [1 << 62]),
        ("depths", [-(1 << 62)]),
        ("text", [0, 1 << 62]),
        ("text", None),
        ("notes", list(get_args(Note))),
        ("build_id", "00" * 64),
        ("shift", 1 << 62),
    ],
)
def test_what_is_within_all_bounds_is_taken(name: str, value: object) -> None:
    decode_answer(changed(name, value), ASKED)


def changed(name: str, value: object) -> bytes:
    answer = json.loads(encode_answer(TRUE))
    assert name in answer
    return json.dumps(answer | {name: value}).encode()


@pytest.mark.parametrize("content", [b"", b"[]", b"[[[[", b"\xff", b"[" * 100_000, b"[1,2]"])
def test_what_is_no_answer_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidAnswerError):
        decode_answer(content, ASKED)


def test_an_answer_that_is_too_long_is_not_even_read() -> None:
    assert decode_answer(encode_answer(TRUE).ljust(LARGEST_ANSWER), ASKED) == TRUE
    with pytest.raises(InvalidAnswerError, match="too long"):
        decode_answer(b" " * (LARGEST_ANSWER + 1), ASKED)


@given(st.binary())
def test_noise_is_refused(noise: bytes) -> None:
    with pytest.raises(InvalidAnswerError):
        decode_answer(noise, ASKED)


@pytest.mark.parametrize("forged", ["/etc/shadow", "..", "a\x1b[2J", "x" * 256])
def test_a_link_that_is_no_name_of_a_file_is_not_believed(forged: str) -> None:
    content = encode_answer(SymbolAnswer(debug_link=forged))
    with pytest.raises(InvalidAnswerError):
        decode_answer(content, SymbolQuestion(False))
