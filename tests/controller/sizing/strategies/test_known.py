"""What holds for every strategy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.sizing.strategies.known import (
    GIVEN,
    HOURLY_GIVEN,
    STRATEGIES,
    Resource,
)
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse

ALL = [
    (name, resource)
    for name, each in STRATEGIES.items()
    for resource in each
    # Advice for each hour takes a second to make; its own tests say the same of it once.
    if name != GIVEN and (name, resource) != (HOURLY_GIVEN, "memory")
]


@pytest.mark.parametrize(("name", "resource"), ALL)
@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), hour=st.integers(1, 40))
def test_an_hour_is_decided_by_what_was_before_it_alone(
    name: str, resource: Resource, seed: int, hour: int
) -> None:
    random = np.random.default_rng(seed)
    scale = 1.0 if resource == "cpu" else 1e9
    pods = random.random((2, 41 * 6)) * scale
    pods[random.random(pods.shape) < 0.05] = np.nan
    other = pods.copy()
    other[:, hour * 6 :] = random.random((2, (41 - hour) * 6)) * scale * 5
    strategy = STRATEGIES[name][resource]
    one = strategy.request(RecordedUse("a", 600, pods), strategy.number)
    two = strategy.request(RecordedUse("a", 600, other), strategy.number)
    np.testing.assert_array_equal(one[: hour + 1], two[: hour + 1])
    assert len(one) == 41
    assert not (one < 0).any()


@pytest.mark.parametrize(("name", "resource"), ALL)
def test_more_is_asked_for_with_a_larger_number(name: str, resource: Resource) -> None:
    scale = 1.0 if resource == "cpu" else 1e9
    pods = np.random.default_rng(17).random((2, 24 * 9 * 2)) * scale
    use = RecordedUse("a", 1800, pods)
    strategy = STRATEGIES[name][resource]
    assert sorted(strategy.numbers) == list(strategy.numbers)
    least = np.nansum(strategy.request(use, strategy.numbers[0]))
    most = np.nansum(strategy.request(use, strategy.numbers[-1]))
    assert least < most


@pytest.mark.parametrize("name", ["nemutator", HOURLY_GIVEN])
def test_all_together_get_what_each_gets_alone(name: str) -> None:
    random = np.random.default_rng(17)
    uses = [RecordedUse(str(each), 1800, random.random((2, 60))) for each in range(3)]
    strategy = STRATEGIES[name]["cpu"]
    assert strategy.together is not None
    for use, requested in zip(uses, strategy.request_all(uses, strategy.number), strict=True):
        np.testing.assert_array_equal(requested, strategy.request(use, strategy.number))
