import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.inspection.detected_runtime import (
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
def test_what_is_said_is_understood(detected: DetectedRuntime) -> None:
    assert decode(encode(detected)) == detected


@pytest.mark.parametrize(
    "value",
    [
        {},
        [],
        [None],
        ["go", "go1", 1],
        ["rust", "1"],
        [1, None],
        ["go", 1],
        ["go", ""],
        ["go", "a\nb"],
        ["go", "\x1b[2J"],
        ["go", "x" * 500],
        [["go"], None],
    ],
)
def test_nonsense_is_refused(value: object) -> None:
    with pytest.raises(InvalidAnswerError):
        decode(json.dumps(value).encode())


@given(st.one_of(st.binary(max_size=2000), st.just(b"[" * 900)))
def test_any_bytes_are_a_verdict_or_nonsense(answer: bytes) -> None:
    with contextlib.suppress(InvalidAnswerError):
        decode(answer)


def test_versions_as_go_writes_them() -> None:
    assert is_version("devel go1.27-1a2b3c4d Tue Mar 3 12:00:00 2026 +0000 X:nocoverageredesign")
