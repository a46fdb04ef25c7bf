"""The minimum that is wanted: never below the base, never above a bound, monotone, and the base when in doubt."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.scaling.decisions import (
    LEAST_SKILL,
    base_of,
    carried_millis,
    wanted_minimum,
)
from nemutator_controller.scaling.model import ScalerSpec, scaler_of
from nemutator_controller.scaling.records import CpuGoal

from tests.fakes.scaling import autoscaler, foreseen


def spec(**fields: Any) -> ScalerSpec:
    return scaler_of("shop", "web", "u", {"target": "web", **fields}).spec


def test_replicas_are_as_many_as_carry_what_is_expected_by_the_autoscalers_own_goal() -> None:
    wanted = wanted_minimum(spec(), autoscaler(), foreseen(2.6))
    assert (wanted.replicas, wanted.reason) == (6, "forecast")
    assert wanted.why == (
        "up to 2.60 cores are expected within 15 min, of which a replica is to carry 0.5: 6"
    )
    near = wanted_minimum(spec(), autoscaler(), foreseen(2.6, lead_s=15))
    assert near.why.startswith("up to 2.60 cores are expected within 15 s, ")
    # Exactly four replicas' worth is not five.
    assert wanted_minimum(spec(), autoscaler(), foreseen(2.0)).replicas == 4
    assert wanted_minimum(spec(marginPercent=50), autoscaler(), foreseen(2.0)).replicas == 6
    expected = foreseen(2.6, ahead=1.6)
    assert wanted_minimum(spec(follow="Expected"), autoscaler(), expected).replicas == 4


def test_no_bound_is_exceeded() -> None:
    assert wanted_minimum(spec(), autoscaler(), foreseen(90.0)).replicas == 10
    limited = wanted_minimum(spec(maxReplicas=7), autoscaler(), foreseen(90.0))
    assert limited.replicas == 7
    assert limited.why.endswith(": 180, and 7 is the most that is allowed")
    # A bound below the base lowers nothing.
    assert wanted_minimum(spec(maxReplicas=1), autoscaler(), foreseen(90.0)).replicas == 2


def test_the_least_that_a_person_asks_for_holds_without_any_forecast() -> None:
    assert base_of(spec(minReplicas=4), autoscaler()) == 4
    assert base_of(spec(minReplicas=40), autoscaler()) == 10
    low = wanted_minimum(spec(minReplicas=4), autoscaler(), foreseen(9.0, skill=0.1))
    assert (low.replicas, low.reason) == (4, "low_skill")


@pytest.mark.parametrize(
    ("found", "forecast", "reason"),
    [
        ({"goal": None}, {}, "no_cpu_metric"),
        ({"goal": CpuGoal(percent=0)}, {}, "no_cpu_metric"),
        ({"goal": CpuGoal(millis=-5)}, {}, "no_cpu_metric"),
        ({"goal": CpuGoal(millis=10**400)}, {}, "no_cpu_metric"),
        ({"goal": CpuGoal(percent=10**400)}, {}, "no_cpu_metric"),
        ({"request_millis": 10**400}, {}, "no_request"),
        ({"request_millis": 0}, {}, "no_request"),
        ({"request_millis": None}, {}, "no_request"),
        ({"request_millis": 1, "goal": CpuGoal(percent=1)}, {}, "no_cpu_metric"),
        ({}, {"skill": LEAST_SKILL - 0.01}, "low_skill"),
        ({}, {"skill": -5.0}, "low_skill"),
        ({}, {"skill": math.nan}, "low_skill"),
        ({}, {"skill": None}, "no_forecast"),
        ({}, {"upper": None}, "no_forecast"),
        ({}, {"upper": math.nan}, "no_forecast"),
        ({}, {"upper": math.inf}, "no_forecast"),
        ({}, {"upper": -1.0}, "no_forecast"),
        ({}, {"reason": "stale", "why_not": "silent"}, "stale"),
        ({}, {"upper": 0.1}, "base"),
    ],
)
def test_whatever_is_in_doubt_is_the_base_with_a_reason(
    found: dict[str, Any], forecast: dict[str, Any], reason: str
) -> None:
    wanted = wanted_minimum(spec(), autoscaler(**found), foreseen(9.0, **forecast))
    assert (wanted.replicas, wanted.reason) == (2, reason)
    assert wanted.why


def test_an_amount_for_each_pod_needs_no_request() -> None:
    assert carried_millis(CpuGoal(millis=250), None) == 250


CORES = st.floats(0, 1e12, allow_nan=False)
COUNTS = st.integers(1, 100_000)
SPECS = st.fixed_dictionaries(
    {}, optional={"maxReplicas": COUNTS, "marginPercent": st.integers(0, 400)}
)


@settings(max_examples=60)
@given(CORES, CORES, COUNTS, COUNTS, st.integers(0, 10**9), SPECS)
def test_it_is_monotone_and_within_the_bounds(
    one: float, other: float, minimum: int, more: int, request: int, fields: dict[str, Any]
) -> None:
    found = autoscaler(minimum=minimum, maximum=minimum + more, request_millis=request)
    low, high = sorted((one, other))
    counts = [
        wanted_minimum(spec(**fields), found, foreseen(cores)).replicas for cores in (low, high)
    ]
    assert minimum <= counts[0] <= counts[1] <= minimum + more
    assert counts[1] <= max(minimum, fields.get("maxReplicas", counts[1]))
