"""Texts are found where a decoder finds them."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.admission.json_texts import JsonPath, texts_in

DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["a", "b", "ä"]), inner, max_size=3)
    ),
    max_leaves=12,
)


def at(document: Any, path: JsonPath) -> Any:
    for step in path:
        document = document[step]
    return document


def count(document: Any) -> int:
    if isinstance(document, dict):
        return sum(map(count, document.values()))
    return sum(map(count, document)) if isinstance(document, list) else isinstance(document, str)


@given(DOCUMENTS, st.booleans())
def test_each_text_is_found_by_its_path(document: Any, spaced: bool) -> None:
    separators = (" , ", " : ") if spaced else (",", ":")
    body = json.dumps(document, ensure_ascii=False, separators=separators).encode()
    found = texts_in(body)
    assert found is not None
    assert len(found) == count(document)
    for path, first, end in found:
        assert json.loads(b'"%b"' % body[first:end]) == at(document, path)


@pytest.mark.parametrize(
    "body", [b'{"a":"1","a":"2"}', b'{"a":{"b":1,"b":"2"}}', b'{"\\u0061":"1"}']
)
def test_a_key_that_counts_only_sometimes_is_none(body: bytes) -> None:
    assert texts_in(body) is None
