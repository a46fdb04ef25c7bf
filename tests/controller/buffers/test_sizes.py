"""A buffer is as large as a policy says, or as the forecast of the lead, and never larger than allowed."""

import math

from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.buffers.model import ExpectedRise, WantedBuffer
from nemutator_controller.buffers.sizes import (
    NOBODY,
    UNREQUESTED,
    UNTOLD,
    buffer_size,
    expected_rise,
)

FIXED = WantedBuffer(policy="busy", pods=3)
BY_FORECAST = WantedBuffer(policy="busy", forecast_percent=100)
RISE = ExpectedRise(cores=4.2, within_s=900)


def test_without_a_policy_there_is_none() -> None:
    size = buffer_size(None, RISE, pod_cores=1, most=10)
    assert (size.pods, size.why) == (0, NOBODY)


def test_a_fixed_size_needs_no_forecast() -> None:
    size = buffer_size(FIXED, None, pod_cores=0, most=10)
    assert (size.pods, size.why) == (3, "SeasonPolicy busy wants 3 pods")


def test_more_than_is_allowed_is_said() -> None:
    size = buffer_size(FIXED, None, pod_cores=1, most=2)
    assert (size.pods, size.why) == (
        2,
        "SeasonPolicy busy wants 3 pods; brain.buffer_pods allows 2",
    )


def test_a_forecast_is_rounded_up_to_whole_pods_and_explained() -> None:
    size = buffer_size(BY_FORECAST, RISE, pod_cores=2, most=10)
    assert size.pods == 3
    assert size.why == (
        "within 15 min the cluster is expected to use 4.20 cores more than now: SeasonPolicy busy wants 100 % of that, "
        "which is 3 pods of 2 cores"
    )
    half = WantedBuffer(policy="busy", forecast_percent=50)
    assert buffer_size(half, RISE, pod_cores=2.1, most=10).pods == 1


def test_what_cannot_be_told_changes_nothing() -> None:
    unknown = buffer_size(BY_FORECAST, None, pod_cores=1, most=10)
    assert (unknown.pods, unknown.why) == (None, UNTOLD)
    shapeless = buffer_size(BY_FORECAST, RISE, pod_cores=0, most=10)
    assert (shapeless.pods, shapeless.why) == (None, UNREQUESTED)


def test_a_rise_is_seen_as_far_ahead_as_the_lead_and_over_midnight() -> None:
    day = [1.0, 1.0, 8.0, 2.0]
    assert expected_rise(day, day, 1.0, slot=0, ahead=1) == 0
    assert expected_rise(day, day, 1.0, slot=1, ahead=1) == 7
    assert expected_rise(day, day, 0.5, slot=3, ahead=1) == 1.5
    assert expected_rise(day, day, 9.0, slot=1, ahead=1) == 0


def test_the_interval_counts_where_there_is_one() -> None:
    assert expected_rise([1.0, 4.0], [1.5, math.inf], 1.0, slot=0, ahead=1) == 3
    assert expected_rise([1.0, 4.0], [1.5, 6.0], 1.0, slot=0, ahead=1) == 5


@given(
    st.floats(0, 1e6),
    st.integers(1, 1000),
    st.floats(0.01, 100),
    st.integers(0, 1000),
)
def test_a_buffer_holds_what_was_wanted_or_all_that_is_allowed(
    cores: float, percent: int, pod: float, most: int
) -> None:
    wanted = WantedBuffer(policy="p", forecast_percent=percent)
    size = buffer_size(wanted, ExpectedRise(cores=cores, within_s=60), pod_cores=pod, most=most)
    assert size.pods is not None
    assert 0 <= size.pods <= most
    assert size.pods == most or size.pods * pod >= cores * percent / 100 * (1 - 1e-5) - 2e-6 * pod
