import pytest
from nemutator_common.wire import Summary
from nemutator_controller.sizing.daily_peaks import DAY_S
from nemutator_controller.sizing.histogram_documents import MOST, keys_of, use_histograms
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.usages import Usages

from tests.fakes.sizing import learn

CART = ContainerKey("shop", "Deployment", "cart", "app")
NOW = 20_000 * DAY_S


def summary(cores: float, memory: int, *, to_at: float) -> Summary:
    return Summary(
        path="/p",
        pod_uid="u",
        container_id=None,
        from_at=to_at - 15.0,
        to_at=to_at,
        cpu_cores=cores,
        memory_bytes=memory,
    )


def test_shares_add_up_and_peaks_come_by_day() -> None:
    usages = Usages(most=10)
    points = [(0.05, 300, NOW - DAY_S), (0.05, 200, NOW), (0.05, 100, NOW), (0.5, 150, NOW)]
    learn(
        usages, [(CART, summary(cores, memory, to_at=at)) for cores, memory, at in points], now=NOW
    )
    [found] = use_histograms(usages.kept([CART]), now=NOW, window_days=14).items
    (low, high, _), (later, _, _) = found.cpu
    assert low <= 0.05 < high
    assert later > 0.4
    # A point of yesterday counts half.
    assert [share for _, _, share in found.cpu] == pytest.approx([2.5 / 3.5, 1 / 3.5], abs=1e-6)
    assert found.memory_peaks == (300, 200)
    assert use_histograms(usages.kept([CART]), now=NOW, window_days=1).items[0].memory_peaks == (
        200,
    )


def test_a_container_without_use_has_an_empty_one() -> None:
    assert use_histograms(Usages(most=1).kept([CART]), now=NOW, window_days=14).items == ()


@pytest.mark.parametrize(
    ("namespace", "workload", "container", "number"),
    [
        (None, "cart", None, 3),
        ("shop", "cart", None, 2),
        (None, "Deployment/cart", "side", 1),
        (None, "StatefulSet/cart", None, 0),
        (None, "", None, 0),
    ],
)
def test_a_workload_is_found_by_name_with_or_without_its_kind(
    namespace: str | None, workload: str, container: str | None, number: int
) -> None:
    known = [
        CART,
        ContainerKey("shop", "Deployment", "cart", "side"),
        ContainerKey("other", "Deployment", "cart", "app"),
    ]
    found = keys_of(known, namespace=namespace, workload=workload, container=container)
    assert len(found) == number


def test_a_name_that_thousands_have_is_a_bounded_answer() -> None:
    known = (ContainerKey(f"n{number}", "Deployment", "web", "app") for number in range(10_000))
    assert len(keys_of(known, namespace=None, workload="web", container=None)) == MOST
