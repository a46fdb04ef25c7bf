"""Documents that differ in plain texts alone have one shape."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.json_texts import texts_in
from nemutator_controller.admission.review_shapes import ReviewShape, shape_around

DOCUMENT = {"a": "1", "b": ["2", {"c": "3"}], "d": 4}


def shape(document: Any) -> ReviewShape:
    body = json.dumps(document).encode()
    return shape_around(body, texts_in(body) or [])


@given(st.tuples(*[st.text(max_size=6)] * 3))
def test_what_stands_in_their_places_is_what_a_decoder_finds(texts: tuple[str, ...]) -> None:
    first, second, third = texts
    other = {"a": first, "b": [second, {"c": third}], "d": 4}
    found = shape(DOCUMENT).texts_of(json.dumps(other, ensure_ascii=False).encode())
    is_plain = all(each.isascii() and each.isprintable() for each in texts)
    if is_plain and not {'"', "\\"} & set("".join(texts)):
        assert found == list(texts)
    else:
        assert found is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"a": "1',
        b'{"a": "1", "b": ["2", {"c": "3"}], "d": 5}',
        b'{"a": "1", "b": ["2", {"c": "3"}], "d": 4} ',
        b'{"a": "1", "b": ["2", {"c": "3"}], "d": 4',
        b'{"a":"1", "b": ["2", {"c": "3"}], "d": 4}',
        b'{"a": "\x00", "b": ["2", {"c": "3"}], "d": 4}',
        b'{"a": "\x7f", "b": ["2", {"c": "3"}], "d": 4}',
        b'{"a": "\xff", "b": ["2", {"c": "3"}], "d": 4}',
    ],
)
def test_all_else_is_the_same_bytes(body: bytes) -> None:
    assert shape(DOCUMENT).texts_of(body) is None
