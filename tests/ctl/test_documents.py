import argparse
import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.documents import Output, add_output, called, rendered, unlisted

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


def test_a_document_is_called_by_its_kind_and_name() -> None:
    assert called({"kind": "Pod", "metadata": {"name": "web"}}) == "Pod web"
    assert called({"kind": "Pod", "metadata": {"generateName": "web-"}}) == "Pod web-"
    assert called({"kind": "Pod", "metadata": {}}) == "Pod without a name"
    for nameless in (None, 3, {"kind": "Pod"}, {"kind": "Pod", "metadata": 3}):
        assert called(nameless) == ""


def test_a_list_stands_for_its_items() -> None:
    pods = {"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "a"}}]}
    whole = {"kind": "List", "items": [{"kind": "Job"}, pods, 3]}
    named = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}
    assert list(unlisted([whole, 4])) == [{"kind": "Job"}, named, 3, 4]
    assert list(unlisted([{"kind": "PodList", "items": None}])) == []
    for none in ({"kind": "List"}, {"kind": "List", "items": {}}, {"kind": "Job", "items": [1]}):
        assert list(unlisted([none])) == [none]


@pytest.mark.parametrize("has_more", [True, False])
def test_wide_is_taken_everywhere_and_named_where_it_shows_more(has_more: bool) -> None:
    parser = argparse.ArgumentParser()
    add_output(parser, wide=has_more)
    assert parser.parse_args(["-o", "wide"]).output == "wide"
    assert ("wide" in parser.format_help()) is has_more
