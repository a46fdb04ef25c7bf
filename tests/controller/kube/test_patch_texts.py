import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.patch_texts import patch_text

# As Go 1.22 and later writes them: json.NewEncoder(…).Encode.
SPELLED = [
    ("a=1&b=<2>", r'"a=1\u0026b=\u003c2\u003e"'),
    ("\u2028\u2029", r'"\u2028\u2029"'),
    ("\b\f\n\r\t\x01\x1f\x7f", '"\\b\\f\\n\\r\\t\\u0001\\u001f\x7f"'),
    ("é/\\\"'\U0001f600", '"é/\\\\\\"\'\U0001f600"'),
    (r"\u0026", r'"\\u0026"'),
]


@pytest.mark.parametrize(("value", "spelled"), SPELLED)
def test_texts_are_spelled_as_the_server_spells_them(value: str, spelled: str) -> None:
    assert patch_text([value]) == f"[{spelled}]".encode()


@given(st.lists(st.text(alphabet='&<>\u2028\\"u0026a'), max_size=5))
def test_what_is_read_is_what_was_written(texts: list[str]) -> None:
    operations = [{"op": "test", "path": f"/{text}", "value": {text: text}} for text in texts]
    assert json.loads(patch_text(operations)) == operations
