import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.profiles.annotations import (
    AnnotationRequest,
    InvalidAnnotationError,
    is_settled,
    parse,
    profile_id,
    result,
)
from nemutator_controller.profiles.outcomes import is_id
from nemutator_controller.profiles.records import EndReason, ended

from tests.fakes.profiles import NOW, profile


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("cpu", AnnotationRequest(30.0, 99)),
        ("cpu 10s", AnnotationRequest(10.0, 99)),
        ("cpu 300s at=999hz id=a-1", AnnotationRequest(300.0, 999)),
        ("  cpu   at=1hz\t1s ", AnnotationRequest(1.0, 1)),
        ("off-cpu", AnnotationRequest(30.0, 0, "off-cpu")),
        ("off-cpu id=3 10s", AnnotationRequest(10.0, 0, "off-cpu")),
        ("heap", AnnotationRequest(0.0, 0, "heap")),
        ("heap id=2", AnnotationRequest(0.0, 0, "heap")),
    ],
)
def test_a_request_is_understood(text: str, wanted: AnnotationRequest) -> None:
    assert parse(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "", "off-cpu at=99hz", "off-cpu 0s", "cpu off-cpu", "heap 30s", "heap id=1 id=2", "heap at=99hz", "cpu heap", "CPU 30s", "cpu 30", "cpu 0s", "cpu 601s", "cpu 30s 40s", "cpu at=0hz",
        "cpu at=1000hz", "cpu at=99", "cpu id=", "cpu id=a id=b", "cpu 30s; rm", "cpu 3\u0660s",
        "cpu " + "x" * 300, "30s cpu",
    ],
)  # fmt: skip
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(InvalidAnnotationError):
        parse(text)


@given(st.text(max_size=300))
def test_no_text_does_anything_but_be_understood_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidAnnotationError):
        wanted = parse(text)
        if wanted.measure == "cpu":
            assert 1 <= wanted.seconds <= 600
            assert 1 <= wanted.hz <= 999


@given(st.text(max_size=20), st.text(max_size=20), st.text(max_size=20))
def test_one_request_of_one_pod_has_one_id(uid: str, text: str, other: str) -> None:
    identity = profile_id(uid, text)
    assert is_id(identity)
    assert identity == profile_id(uid, text)
    assert (identity == profile_id(uid, other)) == (text == other)


def test_a_result_says_how_it_went_and_where_it_is() -> None:
    refused = ended(
        profile(), "refused", EndReason("no such process", "ask for a live one"), now=NOW
    )
    assert json.loads(result(refused, "http://x/y")) == {
        "id": profile().id,
        "state": "refused: no such process; ask for a live one",
        "link": "http://x/y",
    }


def test_only_the_end_of_the_same_request_settles_it() -> None:
    identity = profile().id
    assert is_settled(json.dumps({"id": identity, "state": "done"}), identity)
    assert is_settled(
        result(ended(profile(), "refused", EndReason("why", ""), now=NOW), ""), identity
    )
    for text in (None, "", "x", "[]", "7", '{"id": 7}', '{"id": "other", "state": "done"}'):
        assert not is_settled(text, identity)
    for state in ("running", "lost: nobody", None):
        assert not is_settled(json.dumps({"id": identity, "state": state}), identity)
