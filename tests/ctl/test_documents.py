import json

import yaml
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.documents import Output, rendered

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_both_forms_read_back_and_print(document: object) -> None:
    as_json, as_yaml = rendered(document, Output.JSON), rendered(document, Output.YAML)
    assert json.loads(as_json) == document
    assert yaml.safe_load(as_yaml) == document
    for text in (as_json, as_yaml):
        assert text.endswith("\n")
        assert text.isascii()
        assert text.replace("\n", "").isprintable()


def test_keys_keep_their_order() -> None:
    assert rendered({"b": 1, "a": 2}, Output.YAML) == "b: 1\na: 2\n"
