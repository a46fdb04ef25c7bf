import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import LARGEST_PROFILE_BYTES, ProfileOutcome
from nemutator_controller.profiles.outcomes import InvalidOutcomeError, decode, is_id

GOOD = ProfileOutcome(
    id="0123456789abcdef",
    node="n1",
    state="done",
    started_at=1.0,
    seconds=30.0,
    hz=99,
    recorded=10,
    lost={"full": 1},
    cpu_seconds=0.1,
    notes=("one",),
    pprof=b"x",
)


def test_an_outcome_survives_the_wire() -> None:
    assert decode(msgspec.json.encode(GOOD)) == GOOD


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"id": "../../etc"}, "text"),
        ({"id": ""}, "text"),
        ({"state": "asked"}, "malformed"),
        ({"pprof": ""}, "bounds"),
        ({"state": "running"}, "bounds"),
        ({"recorded": -1}, "number"),
        ({"recorded": 2**60}, "number"),
        ({"seconds": 1e308}, "number"),
        ({"lost": {"full": -1}}, "number"),
        ({"lost": {f"r{n}": 1 for n in range(40)}}, "bounds"),
        ({"notes": ["x"] * 60}, "bounds"),
        ({"notes": ["x" * 1001]}, "bounds"),
        ({"notes": ["\x1b[2J"]}, "text"),
        ({"reason": "\u202e"}, "text"),
        ({"node": "n\n"}, "text"),
        ({"pprof": "%%%"}, "malformed"),
        ({"hz": "99"}, "malformed"),
    ],
)
def test_what_is_out_of_bounds_is_refused_by_name(wrong: dict[str, Any], reason: str) -> None:
    body = json.dumps(msgspec.to_builtins(GOOD) | wrong).encode()
    with pytest.raises(InvalidOutcomeError) as refused:
        decode(body)
    assert refused.value.reason == reason


def test_a_profile_that_is_too_large_is_refused() -> None:
    body = msgspec.json.encode(replace(GOOD, pprof=bytes(LARGEST_PROFILE_BYTES + 1)))
    with pytest.raises(InvalidOutcomeError) as refused:
        decode(body)
    assert refused.value.reason == "bounds"


@given(st.binary(max_size=300))
def test_garbage_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidOutcomeError):
        decode(body)


@given(st.text(max_size=20))
def test_an_id_is_what_we_make(text: str) -> None:
    assert is_id(text) == (len(text) == 16 and all(c in "0123456789abcdef" for c in text))
