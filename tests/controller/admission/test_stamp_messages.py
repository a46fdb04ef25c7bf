"""What processes tell each other comes out as it went in, and no bytes are too strange."""

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.stamp_messages import (
    KeptStamp,
    TakenStamp,
    decode_message,
    encode_message,
)
from nemutator_controller.mutations.decisions import Edit

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
)
MAYBE = st.just(()) | st.tuples(VALUES)
EDITS = st.lists(
    st.builds(Edit, path=TEXT, before=MAYBE, after=MAYBE, verb=TEXT, policy=TEXT),
    max_size=3,
).map(tuple)
ORIGINS = st.tuples(*(TEXT for _ in range(6)), st.booleans())
KEPT = st.builds(
    KeptStamp,
    origin=ORIGINS,
    labels=st.dictionaries(TEXT, TEXT, max_size=3),
    id=TEXT,
    edits=EDITS,
)


@given(KEPT | st.builds(TakenStamp, origin=ORIGINS, id=TEXT))
def test_a_message_comes_out_as_it_went_in(message: KeptStamp | TakenStamp) -> None:
    assert decode_message(encode_message(message)) == message


@given(st.binary() | st.builds(msgspec.json.encode, VALUES))
def test_no_bytes_are_too_strange(content: bytes) -> None:
    found = decode_message(content)
    assert found is None or decode_message(encode_message(found)) == found
