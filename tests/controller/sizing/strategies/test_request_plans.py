import numpy as np
import pytest
from nemutator_controller.sizing.strategies.request_plans import MARGINS, exact, next_requests

PRICE = 20.0
EXACT = exact(PRICE)
UNSURE = EXACT + 4.0 * np.maximum(1.5 - MARGINS, 0)
"""Where a forecast is half too low now and then."""


def _next(needs: np.ndarray, by_margin: np.ndarray, now: float, change_cost: float) -> float:
    (found,) = next_requests(
        needs[np.newaxis],
        by_margin[np.newaxis],
        np.array([now]),
        price=PRICE,
        change_cost=np.array([change_cost]),
    )
    return float(found)


def test_a_request_stays_where_a_change_costs_more_than_it_brings() -> None:
    needs = np.full(8, 1.0)
    assert _next(needs, EXACT, 1.5, 20.0) == 1.5
    assert _next(needs, EXACT, 1.5, 0.5) == pytest.approx(1.0, rel=0.03)


def test_what_is_needed_is_raised_at_once_and_left_for_a_short_dip() -> None:
    needs = np.full(8, 5.0)
    assert _next(needs, EXACT, 1.0, 10.0) == pytest.approx(5.0, rel=0.03)
    needs[:2] = 1.0
    assert _next(needs, EXACT, 5.0, 10.0) == 5.0


def test_the_less_a_forecast_was_right_the_more_is_requested_above_it() -> None:
    needs = np.full(8, 1.0)
    assert _next(needs, EXACT, np.nan, 1.0) == pytest.approx(1.0, rel=0.03)
    assert _next(needs, UNSURE, np.nan, 1.0) == pytest.approx(1.5, rel=0.03)


def test_a_plan_is_as_cheap_as_the_cheapest_of_all_sequences() -> None:
    """Of three hours, tried one by one."""
    random = np.random.default_rng(2)
    for _ in range(3):
        needs = np.append(random.uniform(0.5, 4.0, 2), 1.0)
        now = float(random.uniform(0.5, 4.0))
        found = _next(needs, EXACT, now, 1.0)
        levels = [now, *np.geomspace(0.8 * needs.min(), 1.1 * needs.max(), 12)]

        def cost(path: tuple[float, ...], needs: np.ndarray = needs, now: float = now) -> float:
            off = np.array(path) - needs
            paid = float(np.where(off > 0, off, -PRICE * off).sum())
            return paid + sum(
                one != before for one, before in zip(path, (now, *path[:-1]), strict=True)
            )

        best = min(cost((one, two, three)) for one in levels for two in levels for three in levels)
        later = [*levels, found]
        with_found = min(cost((found, two, three)) for two in later for three in later)
        assert with_found == pytest.approx(best, rel=0.05)


def test_rows_are_planned_by_themselves() -> None:
    random = np.random.default_rng(1)
    needs, now = random.uniform(1, 3, (5, 8)), random.uniform(1, 3, 5)
    costs = np.stack([EXACT, UNSURE, EXACT, UNSURE, EXACT])
    together = next_requests(needs, costs, now, price=PRICE, change_cost=np.full(5, 2.0))
    alone = [_next(needs[row], costs[row], float(now[row]), 2.0) for row in range(5)]
    np.testing.assert_array_equal(together, alone)
