from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.prices import PriceError, Prices
from nemutator_ctl.advise.prices import prices_in, totals, totals_document, totals_view
from nemutator_ctl.advise.view import decode

from tests.ctl.advise.test_view import item

EUROS = Prices(core_hour=0.04, gib_hour=0.005, currency="EUR")


def rows(*items: dict[str, Any]) -> Any:
    return decode({"items": list(items)})


def wasting(cpu: str, pods: int = 1, **more: Any) -> dict[str, Any]:
    return item(
        requests_now={"cpu": cpu, "memory": str(3 << 30)},
        requests={"cpu": "500m", "memory": str(1 << 30)},
        pods=pods,
        **more,
    )


def test_all_pods_of_a_namespace_are_added_up() -> None:
    first, second, whole = totals(
        rows(wasting("1500m", pods=3), wasting("1"), wasting("600m", namespace="a"))
    )
    assert (first.namespace, first.containers, first.cores, first.gib) == ("shop", 2, 3.5, 8.0)
    assert second.namespace == "a"
    assert (whole.namespace, whole.containers) == ("all", 3)
    assert whole.cores == pytest.approx(3.6)


def test_money_is_of_a_month() -> None:
    title, row, _ = totals_view(rows(wasting("1500m")), EUROS).splitlines()
    assert title.split() == ["NAMESPACE", "CONTAINERS", "CORES", "GIB", "EUR", "A", "MONTH"]
    assert row.split() == ["shop", "1", "1.00", "2.00", "36.50"]
    assert len(totals_view(rows(), None).splitlines()) == 2


def test_programs_get_the_same_amounts() -> None:
    amounts = {"containers": 1, "cores": 1.0, "gib": 2.0}
    of_programs = totals_document(rows(wasting("1500m")), None)
    assert of_programs == {"items": [{"namespace": "shop", **amounts}], "all": amounts}
    priced = totals_document(rows(wasting("1500m")), EUROS)
    assert (priced["all"]["a_month"], priced["currency"]) == (36.5, "EUR")


@pytest.mark.parametrize(
    ("documents", "fault"),
    [
        ([], "expected one object"),
        ([[1]], "expected one object"),
        ([{"core_hour": 1}], "gib_hour: expected a number"),
        ([{"core_hour": -1, "gib_hour": 0}], "core_hour: expected a number from 0"),
        ([{"core_hour": float("nan"), "gib_hour": 0}], "core_hour"),
        ([{"core_hour": True, "gib_hour": 0}], "core_hour"),
        ([{"core_hour": 1, "gib_hour": 1, "cor_hour": 1}], "'cor_hour' is no price"),
        ([{"core_hour": 1, "gib_hour": 1, "currency": "x" * 11}], "currency"),
    ],
)
def test_nonsense_is_refused_with_its_field(documents: list[Any], fault: str) -> None:
    with pytest.raises(PriceError, match=fault):
        prices_in(documents)


JSON = st.none() | st.booleans() | st.floats() | st.text(max_size=5)


@given(st.dictionaries(st.sampled_from(["core_hour", "gib_hour", "currency", "x"]), JSON))
def test_any_file_has_prices_or_a_fault(document: dict[str, Any]) -> None:
    try:
        found = prices_in([document])
    except PriceError:
        return
    assert found.of_a_month(1, 1) >= 0
