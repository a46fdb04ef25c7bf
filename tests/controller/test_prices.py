import pytest
from nemutator_controller.prices import PriceError, Prices, prices_of, written_prices


def test_what_a_setting_says_are_prices() -> None:
    found = written_prices(" core_hour: 0.03,gib_hour:0.004 , currency: EUR")
    assert found == Prices(core_hour=0.03, gib_hour=0.004, currency="EUR")
    assert found.of_a_month(cores=2, gib=10) == pytest.approx(73.0)


def test_no_words_are_no_prices() -> None:
    assert written_prices("  ") is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("free", "expected core_hour: 0.03"),
        ("core_hour: 1, core_hour: 2, gib_hour: 1", "each once"),
        ("core_hour: 1", "gib_hour: expected a number"),
        ("core_hour: cheap, gib_hour: 1", "core_hour: expected a number"),
        ("core_hour: nan, gib_hour: 1", "core_hour: expected a number"),
        ("core_hour: inf, gib_hour: 1", "core_hour: expected a number"),
        ("core_hour: -1, gib_hour: 1", "core_hour: expected a number"),
        ("core_hour: 1, gib_hour: 10000001", "gib_hour: expected a number"),
        ("core_hour: 1, gib_hour: 1, disk: 1", "'disk' is no price"),
        ("core_hour: 1, gib_hour: 1, currency: pounds sterling", "currency: expected a short text"),
        ("core_hour: 1, gib_hour: 1, currency: \x1b[31m", "currency: expected a short text"),
    ],
)
def test_nonsense_is_refused_by_what_is_wrong_with_it(text: str, complaint: str) -> None:
    with pytest.raises(PriceError) as refused:
        written_prices(text)
    assert complaint in str(refused.value)


def test_truth_is_no_price() -> None:
    with pytest.raises(PriceError, match="core_hour"):
        prices_of({"core_hour": True, "gib_hour": 1})
