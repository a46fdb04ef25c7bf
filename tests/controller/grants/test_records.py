from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import Grant
from nemutator_controller.grants.records import grants_of

from tests.fakes.grants import grant

NOW = 1_700_000_000.0


def record(**changed: Any) -> dict[str, object]:
    return dict(msgspec.to_builtins(grant()) | changed)


def read(*records: dict[str, object], writer: str = "n1") -> list[Grant]:
    return list(grants_of(writer, records, now=NOW))


def test_a_grant_is_read_as_it_was_sent() -> None:
    assert read(record(), record(operation="read", version=3)) == [
        grant(),
        grant(operation="read", version=3),
    ]


@pytest.mark.parametrize(
    "wrong",
    [
        {"node": "n2"},
        {"operation": "steal"},
        {"result": "maybe"},
        {"pod": "a\nb"},
        {"reason": "x" * 513},
        {"at": -1},
        {"at": "now"},
        {"version": 2**80},
        {"expires_at": 1e300},
        {"cached": "yes"},
    ],
)
def test_what_is_wrong_is_said(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError) as refusal:  # noqa: PT011 - each says something else
        read(record(**wrong))
    assert str(refusal.value)


def test_a_node_whose_clock_is_ahead_is_heard_in_our_time() -> None:
    (soon,) = read(record(at=NOW + 299, expires_at=NOW + 1000))
    assert (soon.at, soon.expires_at) == (NOW + 299, NOW + 1000)
    ahead, reading = read(
        record(at=NOW + 5000, expires_at=NOW + 8600),
        record(at=NOW + 5000, expires_at=None, operation="read"),
    )
    assert (ahead.at, ahead.expires_at) == (NOW, NOW + 3600)
    assert (reading.at, reading.expires_at) == (NOW, None)


json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.sampled_from([*Grant.__slots__, "other"]), json))
def test_any_record_is_read_or_refused(fields: dict[str, Any]) -> None:
    try:
        (read_back,) = read(record(**fields))
    except ValueError:
        return
    assert read_back.node == "n1"
