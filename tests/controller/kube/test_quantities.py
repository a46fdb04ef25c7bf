"""Quantities against apimachinery's own answers (tests/golden/apimachinery) and against fractions."""

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.quantities import (
    LARGEST_EXPONENT,
    LONGEST,
    Format,
    Quantity,
    QuantityError,
    parse_quantity,
)

GOLDEN = Path(__file__).parents[2] / "golden" / "apimachinery"
CAP = 2**63 - 1


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (GOLDEN / name).read_text().splitlines()]


TEXTS = rows("quantities.jsonl")
ACCEPTED = [row for row in TEXTS if not row.get("refused")]
FACTORS = {
    "n": Fraction(1, 10**9),
    "u": Fraction(1, 10**6),
    "m": Fraction(1, 1000),
    "": Fraction(1),
    **{suffix: Fraction(1000**power) for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Fraction(1024**power) for power, suffix in enumerate("KMGTPE", 1)},
    **{f"{letter}{power}": Fraction(10) ** power for letter in "eE" for power in range(-12, 30)},
}

numbers = st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,15})?|\.[0-9]{1,15})", fullmatch=True)
quantities = st.builds(
    Quantity, st.integers(-(10**40), 10**40) | st.integers(-5000, 5000), st.sampled_from(Format)
)


def refusal(text: str) -> str | None:
    try:
        parse_quantity(text)
    except QuantityError as error:
        return str(error)
    return None


def refused(text: str) -> bool:
    return refusal(text) is not None


def test_the_golden_table_is_the_one_that_was_generated() -> None:
    assert len(TEXTS) >= 1000
    assert len(TEXTS) - len(ACCEPTED) >= 50


def test_the_same_texts_are_refused_as_by_apimachinery() -> None:
    assert [row["text"] for row in TEXTS if refused(row["text"]) != bool(row.get("refused"))] == []


def test_amount_and_format_are_those_of_apimachinery() -> None:
    for row in ACCEPTED:
        quantity = parse_quantity(row["text"])
        assert (row["text"], str(quantity.nanos)) == (row["text"], row["nanos"])
        assert (row["text"], quantity.format.value) == (row["text"], row["format"])


def test_the_canonical_text_is_that_of_apimachinery_unless_its_own_loses_the_amount() -> None:
    lossy = []
    for row in ACCEPTED:
        if str(parse_quantity(row["canonical"]).nanos) == row["nanos"]:
            assert str(parse_quantity(row["text"])) == row["canonical"], row
        else:
            lossy.append(row["text"])
            assert parse_quantity(str(parse_quantity(row["text"]))) == parse_quantity(row["text"])
    # Only amounts of 1000E and more have lost their suffix.
    assert all(abs(parse_quantity(text).nanos) >= 10**30 for text in lossy)


def test_sums_differences_and_order_are_those_of_apimachinery() -> None:
    for row in rows("quantity-pairs.jsonl"):
        left, right = parse_quantity(row["left"]), parse_quantity(row["right"])
        assert str(left + right) == row["sum"], row
        assert str(left - right) == row["difference"], row
        assert (left > right) - (left < right) == row["order"], row


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0.5", "500m"),
        ("1.5Gi", "1536Mi"),
        ("1e3", "1e3"),
        ("1000", "1k"),
        ("0.1m", "100u"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("1.1Ki", "1126400m"),
        ("8Ei", str(CAP)),
        ("1000E", "1000E"),
        ("12e-2", "120e-3"),
    ],
)
def test_canonical_form_is(text: str, canonical: str) -> None:
    assert str(parse_quantity(text)) == canonical


@given(quantities)
def test_the_canonical_text_reads_back_as_the_same_amount(quantity: Quantity) -> None:
    if quantity.format is Format.BINARY and abs(quantity.nanos) > CAP * 10**9:
        return  # capped when it is read
    again = parse_quantity(str(quantity))
    assert again == quantity
    assert str(again) == str(quantity)


@given(numbers, st.sampled_from(sorted(FACTORS)))
def test_parsing_rounds_the_exact_fraction_away_from_zero_to_nanos(
    number: str, suffix: str
) -> None:
    exact = abs(Fraction(Decimal(number))) * FACTORS[suffix]
    nanos = -(-exact * 10**9 // 1)
    if suffix.endswith("i"):
        nanos = min(nanos, CAP * 10**9)
    assert parse_quantity(number + suffix).nanos == (-nanos if number.startswith("-") else nanos)


@given(quantities, quantities)
def test_order_sum_and_difference_agree_with_fractions(left: Quantity, right: Quantity) -> None:
    exact_left, exact_right = Fraction(left.nanos, 10**9), Fraction(right.nanos, 10**9)
    assert (left < right) == (exact_left < exact_right)
    assert (left == right) == (exact_left == exact_right)
    assert Fraction((left + right).nanos, 10**9) == exact_left + exact_right
    assert left + right - right == left
    assert left - right == -(right - left)
    assert left + left == left * 2


@given(st.text(max_size=2 * LONGEST))
def test_any_text_is_read_or_refused_with_a_short_reason(text: str) -> None:
    assert len(refusal(text) or "") < 10 * LONGEST


@given(st.text(alphabet="0123456789.+-eEinumkKMGTP", max_size=12))
def test_what_looks_like_a_quantity_reads_back_or_is_refused(text: str) -> None:
    if not refused(text):
        quantity = parse_quantity(text)
        assert parse_quantity(str(quantity)) == quantity


@pytest.mark.parametrize(
    "text",
    [
        "1" * (LONGEST + 1),
        "9" * 10_000_000,
        "1e" + "9" * 120,
        "1e999999999",
        "1e4294967296",
        f"1e{LARGEST_EXPONENT + 1}",
    ],
    ids=len,
)
def test_what_would_cost_more_than_it_says_is_refused(text: str) -> None:
    assert refused(text)


def test_an_exponent_far_below_a_nano_is_one_nano() -> None:
    assert parse_quantity("1e-999999999") == Quantity(1)
    assert parse_quantity("9" * 100 + "e-999999999") == Quantity(1)
    assert parse_quantity("0e-999999999") == Quantity(0)


def test_cores_and_bytes() -> None:
    assert parse_quantity("250m").to_millis() == 250
    assert parse_quantity("1n").to_millis() == 1
    assert parse_quantity("1.5Gi").to_bytes() == 1536 * 2**20
    assert parse_quantity("-1500m").to_bytes() == -2


def test_a_sum_that_starts_at_zero_takes_the_other_format() -> None:
    total = sum((parse_quantity(text) for text in ("1Gi", "512Mi")), start=Quantity(0))
    assert str(total) == "1536Mi"


def test_equal_amounts_hash_alike_and_zero_is_false() -> None:
    assert {parse_quantity("1Ki"), parse_quantity("1024")} == {Quantity(1024 * 10**9)}
    assert not parse_quantity("0Ki")
    assert parse_quantity("-1n")
