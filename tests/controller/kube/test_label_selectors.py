"""Selectors against apimachinery's own answers (tests/golden/apimachinery) and a plain evaluator."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.label_selectors import (
    LONGEST,
    Operator,
    Requirement,
    Selector,
    SelectorError,
    parse_selector,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "apimachinery"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text().splitlines()]


SELECTORS = rows("selectors.jsonl")
LABEL_SETS = rows("label-sets.jsonl")

keys = st.sampled_from(["a", "b", "in", "notin", "exists", "example.com/a"])
values = st.sampled_from(["", "x", "y", "in", "notin", "1", "2", "10"])
labels = st.dictionaries(keys, values)
whole_numbers = st.integers(0, 12).map(str)
requirements = st.one_of(
    st.builds(Requirement, keys, st.sampled_from([Operator.EXISTS, Operator.NOT_EXISTS])),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.NOT_EQUALS]),
        values.map(lambda value: (value,)),
    ),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.sets(values, min_size=1).map(lambda some: tuple(sorted(some))),
    ),
    st.builds(
        Requirement,
        keys,
        st.sampled_from([Operator.GREATER, Operator.LESS]),
        whole_numbers.map(lambda value: (value,)),
    ),
)
selectors = st.lists(requirements, max_size=5).map(
    lambda some: Selector(tuple(sorted(some, key=lambda requirement: requirement.key)))
)

PLAIN: Mapping[Operator, Callable[[str | None, tuple[str, ...]], bool]] = {
    Operator.EXISTS: lambda has, _: has is not None,
    Operator.NOT_EXISTS: lambda has, _: has is None,
    Operator.EQUALS: lambda has, want: [has] == [*want],
    Operator.DOUBLE_EQUALS: lambda has, want: [has] == [*want],
    Operator.NOT_EQUALS: lambda has, want: [has] != [*want],
    Operator.IN: lambda has, want: has in want,
    Operator.NOT_IN: lambda has, want: has not in want,
    Operator.GREATER: lambda has, want: (has or "").isdigit() and int(has or 0) > int(want[0]),
    Operator.LESS: lambda has, want: (has or "").isdigit() and int(has or 0) < int(want[0]),
}


def refusal(text: str) -> str | None:
    try:
        parse_selector(text)
    except SelectorError as error:
        return str(error)
    return None


@pytest.mark.parametrize("row", SELECTORS, ids=lambda row: row["text"][:30])
def test_apimachinery_reads_and_matches_it_the_same_way(row: dict[str, Any]) -> None:
    if row.get("refused"):
        assert refusal(row["text"]) is not None
        return
    selector = parse_selector(row["text"])
    assert str(selector) == row["canonical"]
    assert "".join("01"[selector.matches(some)] for some in LABEL_SETS) == row["matches"]


@given(selectors)
def test_the_canonical_text_reads_back_as_the_same_selector(selector: Selector) -> None:
    assert parse_selector(str(selector)) == selector


@given(selectors, labels)
def test_matching_agrees_with_a_plain_evaluation(
    selector: Selector, some: Mapping[str, str]
) -> None:
    assert selector.matches(some) == all(
        PLAIN[requirement.operator](some.get(requirement.key), requirement.values)
        for requirement in selector.requirements
    )


@given(st.text() | st.text(alphabet="ab1=!<>(), in\tnot/.-_", max_size=20))
def test_any_text_is_read_or_refused_with_its_place(text: str) -> None:
    message = refusal(text)
    if message is None:
        selector = parse_selector(text)
        assert parse_selector(str(selector)) == selector
    else:
        assert message.startswith("selector: character ")
        assert len(message) < 250


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=b,", "selector: character 5: the end instead of a label after ','"),
        ("a in x", "selector: character 6: 'x' instead of '('"),
        ("a in (x", "selector: character 8: the end instead of ',' or ')'"),
        ("a>b", "selector: character 3: 'b' instead of a whole number of 64 bits"),
        ("a>", "selector: character 3: the end instead of a whole number of 64 bits"),
        ("a b", "selector: character 3: 'b' instead of one of = == != in notin > <"),
        ("a\0b", "selector: character 1: 'a\\x00b' instead of a label key"),
    ],
)
def test_a_refusal_names_the_character(text: str, message: str) -> None:
    assert (refusal(text) or "").startswith(message)


def test_a_very_long_selector_is_refused_before_it_is_read() -> None:
    assert refusal("a" * (LONGEST + 1)) == f"selector: longer than {LONGEST} characters"


def test_a_selector_of_the_largest_size_is_read_in_linear_time() -> None:
    members = ",".join(str(number) for number in range(10_000))
    assert parse_selector(f"a in ({members})").matches({"a": "9999"})
    assert refusal("a" + "(" * (LONGEST - 1)) is not None
