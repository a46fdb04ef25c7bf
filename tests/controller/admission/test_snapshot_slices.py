"""Large snapshots are decoded slice by slice, and come out as if they had been decoded at once."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.snapshot_slices import (
    SLICE_BYTES,
    SLICE_ITEMS,
    advisor_slices,
    token_slices,
)
from nemutator_controller.admission.snapshots import SnapshotError

from tests.fakes.slices import whole


def test_tokens_are_those_of_a_store_that_was_read() -> None:
    def document(**changed: Any) -> bytes:
        return msgspec.json.encode({"source": "x", "read": True, "tokens": {}} | changed)

    found = whole(token_slices(document(tokens={"nemu_a": "1"})))
    assert found is not None
    assert found.values == {"nemu_a": "1"}
    unread = whole(token_slices(document(read=False)))
    assert unread is not None
    assert "not been read yet" in unread.without
    assert whole(token_slices(document(source=""))) is None
    for bad in (b"{}", b"[]", document(tokens={"nemu_a": 1}), b"\xff"):
        with pytest.raises(SnapshotError):
            whole(token_slices(bad))


def document_of(tokens: Any) -> bytes:
    return msgspec.json.encode({"source": "redis", "read": True, "tokens": tokens})


TEXTS = st.text(alphabet='a",:{}\\[] \n', max_size=6)


@given(st.dictionaries(TEXTS, TEXTS, max_size=12), st.integers(min_value=1, max_value=12))
def test_tokens_are_never_cut_in_the_midst_of_a_text(tokens: dict[str, str], size: int) -> None:
    found = whole(token_slices(document_of(tokens), slice_bytes=size))
    assert found is not None
    assert found.values == tokens


@given(st.dictionaries(TEXTS, TEXTS, min_size=2, max_size=12), st.integers(0, 200), st.binary())
def test_damage_is_found_in_slices_too(tokens: dict[str, str], at: int, damage: bytes) -> None:
    document = document_of(tokens)
    document = document[:at] + damage + document[at:]
    outcomes = []
    for size in (4, 1 << 20):
        try:
            outcomes.append(whole(token_slices(document, slice_bytes=size)))
        except SnapshotError:
            outcomes.append(None)
    assert outcomes[0] == outcomes[1]


def test_between_two_turns_no_more_is_decoded_than_a_slice() -> None:
    tokens = {f"nemu_label_value_{number:032x}": f"value-{number}" for number in range(10_000)}
    document = document_of(tokens)
    turns = sum(1 for _ in token_slices(document))
    assert turns >= len(document) // (2 * SLICE_BYTES)
    found = whole(token_slices(document))
    assert found is not None
    assert found.values == tokens


def test_advice_comes_in_slices_too() -> None:
    item = {
        "namespace": "shop", "owner_kind": "Deployment", "owner": "web", "strategy": "s",
        "state": "firm", "reason": "", "points": 1, "requests": {}, "limits": {},
    }  # fmt: skip
    items = [item | {"container": f"c{number}"} for number in range(3 * SLICE_ITEMS)]
    document = msgspec.json.encode({"items": items})
    assert sum(1 for _ in advisor_slices(document)) == 3
    assert len(whole(advisor_slices(document)).items) == len(items)
    with pytest.raises(SnapshotError):
        whole(advisor_slices(msgspec.json.encode({"items": [item]})))
