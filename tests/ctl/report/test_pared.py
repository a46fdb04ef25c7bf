import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_ctl.report.pared import KEPT, LEFT_OUT, pared, without_labels

SECRET = "s3cr3t-hunter2"
FIELDS = st.text(max_size=12).filter(lambda name: name not in KEPT)
HOLDS = st.recursive(
    st.just(SECRET) | st.integers() | st.none() | st.just(f"password={SECRET}"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(FIELDS, inner, max_size=3),
)


@given(HOLDS)
def test_no_text_of_a_field_that_is_not_known_stays(document: object) -> None:
    assert SECRET not in json.dumps(pared(document))


@given(st.sampled_from(sorted(LEFT_OUT)), st.integers() | st.lists(st.integers()))
def test_of_what_was_changed_not_even_numbers_stay(field: str, value: object) -> None:
    assert pared({field: value}) == {field: "(left out)"}


def test_numbers_and_words_of_ours_stay_with_names() -> None:
    document = {"items": [{"kind": "Deployment", "name": "api", "ready": 2, "why": "because"}]}
    assert pared(document) == {
        "items": [{"kind": "Deployment", "name": "api", "ready": 2, "why": "(7 characters)"}]
    }


@pytest.mark.parametrize("field", ["labels", "annotations", "environment"])
def test_keys_that_strangers_choose_go_with_their_values(field: str) -> None:
    assert without_labels({"items": [{"name": "a", field: {SECRET: SECRET}}]}) == {
        "items": [{"name": "a"}]
    }


def test_a_name_without_end_is_cut() -> None:
    assert pared({"name": "x" * 10_000}) == {"name": "x" * 200}
