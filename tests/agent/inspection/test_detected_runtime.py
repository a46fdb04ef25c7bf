import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.detected_runtime import (
    LONGEST_ANSWER,
    UNKNOWN,
    DetectedRuntime,
    decode,
    encode,
    is_version,
)
from nemutator_agent.inspection.failures import InvalidAnswerError


@pytest.mark.parametrize(
    "detected",
    [
        UNKNOWN,
        DetectedRuntime("go", "go1.26.8"),
        DetectedRuntime("python", None),
        DetectedRuntime("java", "17"),
    ],
)
def test_an_answer_is_read_as_it_was_written(detected: DetectedRuntime) -> None:
    assert decode(encode(detected)) == detected


@pytest.mark.parametrize(
    "value",
    [
        [],
        ["go", "go1"],
        {},
        {"runtime": "go"},
        {"runtime": "rust", "version": "1"},
        {"runtime": 1, "version": None},
        {"runtime": ["go"], "version": None},
        {"runtime": "go", "version": 1},
        {"runtime": "go", "version": "a\nb"},
        {"runtime": "go", "version": "\x1b[2J"},
        {"runtime": "go", "version": "x" * 500},
        {"runtime": "python", "version": None, "script": "app.py"},
    ],
)
def test_what_the_worker_could_not_have_written_is_refused(value: object) -> None:
    with pytest.raises(InvalidAnswerError):
        decode(json.dumps(value).encode())


def test_an_answer_that_is_too_long_is_not_even_read() -> None:
    answer = encode(DetectedRuntime("go", "go1.26.8"))
    assert decode(answer.ljust(LONGEST_ANSWER)).version == "go1.26.8"
    with pytest.raises(InvalidAnswerError, match="too long"):
        decode(answer.ljust(LONGEST_ANSWER + 1))


@given(st.one_of(st.binary(max_size=2000), st.just(b"[" * 900)))
def test_any_bytes_are_an_answer_or_refused(answer: bytes) -> None:
    with contextlib.suppress(InvalidAnswerError):
        decode(answer)


def test_versions_as_go_writes_them() -> None:
    assert is_version("devel go1.27-1a2b3c4d Tue Mar 3 12:00:00 2026 +0000 X:nocoverageredesign")
