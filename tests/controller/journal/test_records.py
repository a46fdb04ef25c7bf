import contextlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.journal.records import (
    LARGEST_DECISION,
    MOST_EDITS,
    DecisionError,
    decode,
    names_of,
)
from nemutator_controller.mutations.decisions import Subject

from tests.fakes.decisions import POD, decision, edit

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def record(**changed: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(decision())
    return {**plain, **changed}


@given(JSON, JSON)
def test_any_values_survive_the_way_into_the_journal(before: object, after: object) -> None:
    whole = decision(edits=(edit("metadata.labels[a]", before=before, after=after),))
    sent = msgspec.json.decode(msgspec.json.encode(whole))
    assert decode(sent) == whole


@given(st.dictionaries(st.sampled_from(sorted(record())), JSON))
def test_nonsense_is_refused_and_nothing_else_is_raised(changed: dict[str, Any]) -> None:
    with contextlib.suppress(DecisionError):
        assert decode(record(**changed)).id


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"id": ""}, "id of 1 to"),
        ({"id": "x" * 65}, "id of 1 to"),
        ({"id": "a\x1b[2J"}, "id of 1 to"),
        ({"edits": [msgspec.to_builtins(edit("a"))] * (MOST_EDITS + 1)}, "more than"),
        ({"warnings": ["x" * LARGEST_DECISION]}, "larger than"),
        ({"mode": "surely"}, "surely"),
        ({"edits": None}, "edits"),
    ],
)
def test_what_is_wrong_is_said(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(DecisionError, match=why):
        decode(record(**changed))


def test_objects_are_named_as_people_write_them() -> None:
    assert names_of(POD) == "Pod team/web-1"
    unnamed = Subject(api_version="v1", kind="Pod", namespace="team", name="", generate_name="web-")
    assert names_of(unnamed) == "Pod team/web-…"
    policy = Subject(api_version="v1", kind="MutationPolicy", namespace="", name="defaults")
    assert names_of(policy) == "MutationPolicy defaults"
