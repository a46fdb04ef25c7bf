from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_ctl.installation.chart_values import ValuesError, assigned, at, merged


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("credentials.enabled=false", {"credentials": {"enabled": False}}),
        ("a=1,b.c=x", {"a": 1, "b": {"c": "x"}}),
        ("a.b=1,a.c=true", {"a": {"b": 1, "c": True}}),
        # Versions stay what they are: Helm reads these as text, too.
        ("tag=1.10", {"tag": "1.10"}),
        ("tag=007", {"tag": "007"}),
        ("n=-5", {"n": -5}),
        ("a=", {"a": ""}),
        ("a=null", {"a": None}),
        ("a={x,y}", {"a": ["x", "y"]}),
        ("a={}", {"a": []}),
        (r"a=x\,y", {"a": "x,y"}),
        (r"labels.app\.io/name=web", {"labels": {"app.io/name": "web"}}),
        ("url=https://vault:8200/v1?a=b", {"url": "https://vault:8200/v1?a=b"}),
        ("n=123456789012345678901234567890", {"n": "123456789012345678901234567890"}),
    ],
)
def test_an_assignment_is_read_as_helm_reads_it(text: str, wanted: Any) -> None:
    assert assigned(text) == wanted


@pytest.mark.parametrize("text", ["a", "=1", "a..b=1", "", "a[0]=1", ".".join("x" * 20) + "=1"])
def test_what_is_no_assignment_is_refused(text: str) -> None:
    with pytest.raises(ValuesError):
        assigned(text)


def test_what_is_said_above_wins_and_null_takes_away() -> None:
    below = {"a": {"b": 1, "c": 2}, "d": {"e": 1}}
    assert merged(below, {"a": {"b": 5}, "d": None}) == {"a": {"b": 5, "c": 2}}
    assert below == {"a": {"b": 1, "c": 2}, "d": {"e": 1}}


def test_a_value_is_found_by_its_path() -> None:
    assert at({"a": {"b": 0}}, "a.b") == 0
    assert at({"a": {"b": 0}}, "a.b.c") is None
    assert at({}, "a") is None


TABLES = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda below: st.dictionaries(st.sampled_from("abc"), below, max_size=3),
    max_leaves=8,
)


@settings(max_examples=30)
@given(st.dictionaries(st.sampled_from("abc"), TABLES, max_size=3))
def test_nothing_said_changes_nothing(values: dict[str, Any]) -> None:
    assert merged(values, {}) == values
    assert merged(values, values) == values
    assert merged({}, values) == values
