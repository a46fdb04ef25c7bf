"""Ratios are read and written exactly, and whatever is none is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.oversell.ratios import (
    MOST,
    ONE,
    amplified,
    cpu_millis,
    cpu_text,
    hundredths_of,
    least_ratio,
    parse_ratio,
    ratio_text,
)


@given(st.integers(ONE, MOST))
def test_what_is_written_is_read_again(ratio: int) -> None:
    assert parse_ratio(ratio_text(ratio)) == ratio


@pytest.mark.parametrize(("text", "ratio"), [("1", 100), ("1.5", 150), ("1.05", 105), ("2", 200)])
def test_people_may_write_it_shorter(text: str, ratio: int) -> None:
    assert parse_ratio(text) == ratio


@pytest.mark.parametrize(
    "text",
    ["", "0", "0.99", "-1.5", "2.01", "2.5", "NaN", "inf", "1e0", "1.555", " 1.5", "1,5", "\u0661.5", "1.", "1" * 999],
)  # fmt: skip
def test_what_is_no_ratio_from_one_to_two_is_none(text: str) -> None:
    assert parse_ratio(text) is None


@given(st.integers(1, 10**9), st.integers(0, 10**9))
def test_the_least_ratio_is_the_smallest_with_which_requests_fit(raw: int, requested: int) -> None:
    ratio = least_ratio(requested, raw)
    assert amplified(raw, ratio) >= requested
    assert ratio == ONE or amplified(raw, ratio - 1) < requested


@given(st.integers(1, 10**12))
def test_an_amount_of_cpu_survives_its_text(millis: int) -> None:
    assert cpu_millis(cpu_text(millis)) == millis


@pytest.mark.parametrize("text", [None, "", "0", "-4", "0.0001", "NaN", "four", "1" * 200])
def test_what_says_no_amount_is_none(text: str | None) -> None:
    assert cpu_millis(text) is None


def test_what_a_policy_asks_for_is_within_bounds() -> None:
    assert [hundredths_of(one) for one in (1.0, 1.29, 2.0, 9.0, 0.1)] == [100, 129, 200, 200, 100]
