import msgspec
import pytest
from nemutator_controller.queries import LARGEST_PAGE, AskedPage
from nemutator_controller.sizing.advice_pages import (
    ORDERS,
    AdviceNotAskedWellError,
    AskedAdvice,
    advice_page,
    advice_position,
    advice_totals,
    asked_advice,
)
from nemutator_controller.sizing.documents import Advice, RecommendedAmounts

from tests.controller.sizing.firm_advice import KNOWN


def changed(**fields: object) -> Advice:
    return msgspec.structs.replace(KNOWN, **fields)


def asking(cpu: str | None, memory: str | None = None) -> RecommendedAmounts:
    return RecommendedAmounts(cpu=cpu, memory=memory)


MUCH = changed(owner="much", pods=10)
MEMORY = changed(owner="memory", requests_now=asking(None, "80Gi"), requests=asking("1", "16Gi"))
TOO_LITTLE = changed(owner="little", requests_now=asking("100m"))
UNREQUESTED = changed(owner="free", requests_now=asking(None))
WAITING = changed(owner="a-new-one", state="not_yet", requests=asking(None))
ALL = [WAITING, UNREQUESTED, TOO_LITTLE, KNOWN, MUCH, MEMORY]


def names(asked: AskedAdvice) -> list[str]:
    return [one.owner for one in advice_page(ALL, asked).items]


def test_what_wastes_most_comes_first_and_what_nothing_is_known_of_last() -> None:
    by_waste = AskedAdvice(AskedPage("waste", None, ""))
    assert names(by_waste) == ["memory", "much", "cart", "little", "free", "a-new-one"]
    assert names(AskedAdvice(AskedPage("name", None, ""))) == sorted(one.owner for one in ALL)


@pytest.mark.parametrize("order", ORDERS)
def test_pages_one_after_another_are_all_of_it(order: str) -> None:
    after, seen = "", []
    while True:
        page = advice_page(ALL, AskedAdvice(AskedPage(order, 2, after)))
        seen += page.items
        assert page.remaining == len(ALL) - len(seen)
        assert page.totals == advice_totals(ALL)
        if not (after := page.next):
            break
    assert seen == advice_page(ALL, AskedAdvice(AskedPage(order, None, ""))).items


@pytest.mark.parametrize(
    ("search", "found"),
    [
        (("cart",), ["cart"]),
        (("shop/m",), ["memory", "much"]),
        (("shop", "app", "uc"), ["much"]),
        (("deployment",), []),
    ],
)
def test_it_is_searched_by_parts_of_names_and_the_totals_stay(
    search: tuple[str, ...], found: list[str]
) -> None:
    page = advice_page(ALL, AskedAdvice(AskedPage("name", 1, "", search)))
    assert [one.owner for one in page.items] == found[:1]
    assert page.remaining == max(0, len(found) - 1)
    assert page.totals == advice_totals(ALL)


@pytest.mark.parametrize("workload", ["Deployment/cart", "cart"])
def test_of_one_workload_the_totals_are_its_own(workload: str) -> None:
    page = advice_page(ALL, AskedAdvice(AskedPage("name", None, ""), workload))
    assert page.items == [KNOWN]
    assert page.totals == advice_totals([KNOWN])
    assert names(AskedAdvice(AskedPage("name", None, ""), "StatefulSet/cart")) == []


def test_totals_count_every_pod_and_nothing_that_is_not_known() -> None:
    totals = advice_totals([KNOWN, UNREQUESTED, WAITING])
    assert totals.containers == 1
    assert (totals.requested_cpu_cores, totals.used_cpu_cores) == (3, 0.6)
    assert totals.freed_cpu_cores == 2.4
    assert totals.requested_memory_bytes == 3_000_000_000
    assert totals.used_memory_bytes == 600_000_000
    assert totals.freed_memory_bytes == 2_100_000_000
    assert advice_totals([TOO_LITTLE]).freed_cpu_cores == -0.3
    assert advice_totals([]).containers == 0


@pytest.mark.parametrize("amount", ["", "much", "1e300000", "-"])
def test_an_amount_that_is_none_is_no_fault(amount: str) -> None:
    hostile = changed(requests_now=asking(amount, amount))
    assert len(advice_position(hostile, "waste")[1]) == 4
    assert advice_page([hostile], AskedAdvice(AskedPage("waste", 1, ""))).remaining == 0


def test_without_words_of_a_page_all_of_it_is_wanted() -> None:
    assert asked_advice({}) is None
    assert asked_advice({"namespace": "shop"}) is None
    assert asked_advice({"limit": "300", "orderBy": "waste"}) == AskedAdvice(
        AskedPage("waste", 300, "")
    )
    asked = asked_advice({"search": " Cart  Shop ", "continue": "x", "workload": "unit/a"})
    assert asked == AskedAdvice(AskedPage("name", None, "x", ("cart", "shop")), "unit/a")


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ({"orderBy": "cost"}, "orderBy"),
        ({"limit": "0"}, "limit"),
        ({"limit": str(LARGEST_PAGE + 1)}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"search": 201 * "x"}, "search"),
    ],
)
def test_what_cannot_be_asked_is_named(query: dict[str, str], said: str) -> None:
    with pytest.raises(AdviceNotAskedWellError, match=said):
        asked_advice(query)


def test_a_token_of_another_order_is_refused() -> None:
    token = advice_page(ALL, AskedAdvice(AskedPage("name", 1, ""))).next
    with pytest.raises(AdviceNotAskedWellError, match="continue"):
        advice_page(ALL, AskedAdvice(AskedPage("waste", 1, token)))
