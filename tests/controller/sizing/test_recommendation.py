import dataclasses
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.known_usage import Knobs, KnownUsage
from nemutator_controller.sizing.margins import MARGINS, memory_margins
from nemutator_controller.sizing.recommendation import FIRM_POINTS
from nemutator_controller.sizing.usages import Usages

from tests.controller.sizing.test_usages import NOW, key, summary
from tests.fakes.sizing import (
    BoundedAmount,
    NotYet,
    Recommendation,
    columns_of,
    learn,
    recommended_rows,
)

SEEN = KnownUsage(
    key=ContainerKey("shop", "Deployment", "cart", "app"),
    points=100,
    span_s=1500.0,
    step_s=15.0,
    sampled_s=1500.0,
    steps=100.0,
    last_at=0.0,
    cpu_p50=0.1,
    cpu_p95=0.2,
    memory_p95=200_000_000,
    memory_max=200_000_000,
)


DAY_S = 86_400.0


def paced(seen: KnownUsage, points: int, span_s: float, step_s: float = 15.0) -> KnownUsage:
    """*seen*, with so many points of one length in so much time."""
    return replace(
        seen, points=points, span_s=span_s, sampled_s=points * step_s, steps=span_s / step_s
    )


OLD = paced(SEEN, 14 * 5_760, 14 * DAY_S)
"""Two weeks of it."""


def recommend(seen: KnownUsage, *, now: float) -> Recommendation | NotYet:
    [found] = recommended_rows(columns_of(seen), now=now)
    return found


def given_for(seen: KnownUsage) -> Recommendation:
    found = recommend(seen, now=seen.last_at)
    assert isinstance(found, Recommendation)
    return found


def test_after_two_weeks_it_is_firm_in_all() -> None:
    known = round(14 / 15, 3)
    assert recommend(OLD, now=0.0) == Recommendation(
        state="firm",
        cpu_millis=BoundedAmount(value=200, lower=100, upper=215, confidence=known),
        memory_mb=BoundedAmount(value=236, lower=200, upper=253, confidence=known),
        limits_memory=True,
        memory_margin=1.18,
        reason="",
    )


def test_with_a_hundred_points_it_is_firm_and_sets_no_limit_of_memory() -> None:
    advised = given_for(SEEN)
    assert (advised.state, advised.limits_memory) == ("firm", False)
    assert advised.reason == "no limit of memory before a day: 25 min of data"
    assert advised.memory_mb.value == 802


def test_the_margin_is_that_of_what_is_known_of_the_fleet() -> None:
    learned = tuple((least_s, 0.5) for least_s, _ in MARGINS)
    advised = given_for(replace(OLD, margins=learned))
    assert advised.memory_mb.value == 218


def test_two_points_of_different_weeks_are_no_two_weeks() -> None:
    advised = given_for(paced(OLD, FIRM_POINTS, OLD.span_s))
    assert not advised.limits_memory
    assert advised.cpu_millis.confidence < 0.02


def test_what_was_stopped_at_its_limit_used_what_it_could_get() -> None:
    advised = given_for(replace(OLD, throttled=0.33))
    assert advised.cpu_millis.value == 286
    assert advised.cpu_millis.confidence < given_for(OLD).cpu_millis.confidence
    assert advised.reason == "stopped at its CPU limit in 30% of the time: it needs more"
    assert given_for(replace(OLD, throttled=0.04)).cpu_millis == given_for(OLD).cpu_millis
    assert given_for(replace(OLD, throttled=1.0)).cpu_millis.value == 400


def test_who_waits_for_a_cpu_may_need_more_and_nobody_knows_how_much() -> None:
    plain, advised = given_for(OLD), given_for(replace(OLD, cpu_waiting=0.33))
    assert advised.cpu_millis.value == plain.cpu_millis.value
    assert (plain.cpu_millis.upper, advised.cpu_millis.upper) == (215, 307)
    assert advised.cpu_millis.confidence == pytest.approx(
        plain.cpu_millis.confidence * 0.7, abs=1e-3
    )
    assert advised.memory_mb == plain.memory_mb
    assert advised.reason == "waits for a CPU in 30% of the time: it may need more"
    # Threads of its own make each other wait a little.
    assert given_for(replace(OLD, cpu_waiting=0.09)) == plain


def test_who_is_stopped_at_a_limit_waits_too_and_that_is_told_once() -> None:
    advised = given_for(replace(OLD, throttled=0.4, cpu_waiting=0.4))
    assert advised.reason == "stopped at its CPU limit in 40% of the time: it needs more"
    alone = given_for(replace(OLD, throttled=0.4))
    assert advised.cpu_millis.confidence == alone.cpu_millis.confidence


def test_what_waits_for_memory_needs_a_fifth_more_than_it_had() -> None:
    plain, advised = given_for(OLD), given_for(replace(OLD, memory_waiting=0.2))
    assert advised.memory_mb.value == round(OLD.memory_max * 1.2 * 1.15 / 1e6)
    assert advised.memory_mb.confidence < plain.memory_mb.confidence
    assert advised.cpu_millis == plain.cpu_millis
    assert advised.reason == "waits for memory that was taken from it: it needs more"
    assert given_for(replace(OLD, memory_waiting=0.09)) == plain


def test_after_a_kill_memory_is_what_vpa_would_give_at_least() -> None:
    advised = given_for(replace(OLD, memory_needed=400_000_000, kills=2))
    assert advised.memory_mb.value == 460
    assert advised.memory_mb.lower == 400
    assert advised.memory_mb.confidence < given_for(OLD).memory_mb.confidence
    assert advised.reason == "killed for memory 2 times: it needs more"


def test_a_container_that_is_killed_fits_after_as_many_kills_as_vpa_needs() -> None:
    """It needs 2 GB and has 500 MB; after each kill it gets what is advised then."""

    def kills_until(fits: float, after: Callable[[float, float], float]) -> int:
        limit, kills = 500e6, 0
        while limit < fits:
            kills += 1
            limit = after(limit, limit)
        return kills

    def ours(used: float, requested: float) -> float:
        usages = Usages(most=1)
        # It is killed while the agent sees less than it had.
        killed = dataclasses.replace(summary(memory_bytes=int(used * 0.8)), oom_kills=1)
        learn(usages, [(key(), killed)] * 200, now=NOW, requested=requested)
        [seen] = usages.seen([key()], now=NOW)
        return given_for(paced(seen, 10**6, 14 * DAY_S)).memory_mb.value * 1e6

    def vpas(used: float, requested: float) -> float:
        return max(requested + 100 * 2**20, requested * 1.2) * 1.15

    assert kills_until(2e9, ours) <= kills_until(2e9, vpas) == 5


@given(st.integers(8, 10**7), st.floats(15, 30 * DAY_S), st.floats(0, 1000), st.floats(0, 1000))
def test_bounds_hold_the_value_and_come_nearer(
    points: int, span_s: float, p50: float, p95: float
) -> None:
    known = replace(SEEN, cpu_p50=min(p50, p95), cpu_p95=p95)
    seen, longer = (paced(known, points * n, span_s * n) for n in (1, 2))
    for one, more in (
        (given_for(seen).cpu_millis, given_for(longer).cpu_millis),
        (given_for(seen).memory_mb, given_for(longer).memory_mb),
    ):
        widest = math.inf if one.upper is None else one.upper
        assert one.lower <= one.value <= widest
        assert 0 <= one.confidence <= more.confidence <= 1
        assert (math.inf if more.upper is None else more.upper) <= widest


known = st.builds(
    lambda points, span_s, last_at, kills, shares: replace(
        paced(SEEN, points, span_s),
        last_at=last_at,
        kills=kills,
        memory_needed=kills * 10**8,
        throttled=shares[0],
        cpu_waiting=shares[1],
        memory_waiting=shares[2],
    ),
    st.integers(1, 200),
    st.floats(15, 15 * DAY_S),
    st.sampled_from([0.0, -1_000.0, -DAY_S]),
    st.integers(0, 2),
    st.tuples(*[st.one_of(st.just(0.0), st.floats(0, 1))] * 3),
)


@given(st.lists(known, min_size=1, max_size=5))
def test_nobodys_neighbours_change_what_is_advised(rows: list[KnownUsage]) -> None:
    alone = [recommend(one, now=0.0) for one in rows]
    assert recommended_rows(columns_of(*rows), now=0.0) == alone


def test_its_knobs_change_it() -> None:
    knobs = Knobs(memory_buffer=50.0, least_cpu_millis=300, least_memory_mb=100)
    advised = given_for(replace(OLD, knobs=knobs))
    assert (advised.cpu_millis.value, advised.memory_mb.value) == (300, 300)


def test_with_fewer_it_is_provisional_and_says_of_what_span() -> None:
    advised = recommend(paced(SEEN, 40, 600.0), now=0.0)
    assert isinstance(advised, Recommendation)
    assert (advised.state, advised.reason) == ("provisional", "40 of 100 points, over 10 min")


def test_many_replicas_of_one_moment_do_not_make_it_firm() -> None:
    advised = recommend(paced(SEEN, 300, 45.0), now=0.0)
    assert isinstance(advised, Recommendation)
    assert (advised.state, advised.reason) == (
        "provisional",
        "300 points of 45 s, firm after 24 min",
    )


def test_what_is_firm_stays_so_when_its_pace_changes() -> None:
    usages, at = Usages(most=1), NOW
    # Two replicas: the time that is left over has room for no more than it must.
    for step_s in [15.0] * 99 + [16.0, 31.0, 15.0, 60.0, 15.0]:
        at += step_s
        for pod in ("one", "other"):
            one = dataclasses.replace(summary(at), from_at=at - step_s, pod_uid=pod)
            learn(usages, [(key(), one)], now=at)
        [seen] = usages.seen([key()], now=at)
        advised = recommend(seen, now=at)
        if at >= NOW + 99 * 15.0:
            assert isinstance(advised, Recommendation)
            assert advised.state == "firm", f"after a step of {step_s} s: {advised.reason}"


def test_what_has_been_seen_for_minutes_has_no_upper_bound() -> None:
    minutes, hours = given_for(paced(SEEN, 40, 600.0)), given_for(paced(SEEN, 720, 3 * 3_600.0))
    assert (minutes.cpu_millis.upper, minutes.memory_mb.upper) == (None, None)
    assert hours.cpu_millis.upper is not None
    assert hours.cpu_millis.upper <= 10 * hours.cpu_millis.value


def test_a_span_has_not_reached_what_it_is_near_to() -> None:
    advised = recommend(paced(SEEN, 23, 345.0), now=0.0)
    assert advised.reason == "23 of 100 points, over 5 min"


def test_what_has_ended_is_said_to_be_last_seen_and_nobody_is_sent_to_ask_again() -> None:
    gone = replace(SEEN, points=1)
    assert recommend(gone, now=3700.0) == NotYet("1 of 8 points, last seen 61 min ago")
    advised = recommend(paced(SEEN, 40, 600.0), now=7300.0)
    assert advised.reason == "40 of 100 points, over 10 min; last seen 2 h ago"
    firm = recommend(OLD, now=7300.0)
    assert isinstance(firm, Recommendation)
    assert (firm.state, firm.reason) == ("firm", "last seen 2 h ago")


def test_with_almost_none_there_is_no_value_and_the_reason_says_when_to_ask() -> None:
    found = recommend(replace(SEEN, points=3), now=0.0)
    assert found == NotYet("3 of 8 points, ask again in 75 s")


@pytest.mark.parametrize(("points", "state"), [(8, "provisional"), (99, "provisional")])
def test_the_borders_are_where_they_are_said_to_be(points: int, state: str) -> None:
    advised = recommend(replace(SEEN, points=points), now=0.0)
    assert isinstance(advised, Recommendation)
    assert advised.state == state


def test_nothing_goes_below_the_floors() -> None:
    advised = given_for(replace(SEEN, cpu_p50=0.0, cpu_p95=0.001, memory_max=1000))
    assert (advised.cpu_millis.value, advised.memory_mb.value) == (10, 100)


def test_a_whole_amount_is_not_rounded_up_by_its_binary_fraction() -> None:
    assert given_for(replace(SEEN, cpu_p95=0.07)).cpu_millis.value == 70


@given(st.floats(0, 1000), st.integers(0, 10**12), st.integers(8, 10**6))
def test_advice_covers_what_was_seen_and_little_more(
    cpu_p95: float, memory_max: int, points: int
) -> None:
    seen = paced(replace(OLD, cpu_p95=cpu_p95, memory_max=memory_max), points, OLD.span_s)
    advised = given_for(seen)
    cpu, memory = advised.cpu_millis.value, advised.memory_mb.value
    assert cpu_p95 * 1000 <= cpu + 1e-6
    assert cpu <= max(10, cpu_p95 * 1000 + 1)
    needed = memory_max * float(memory_margins(np.array([seen.observed_s]), buffer=18.0)[0]) / 1e6
    assert math.floor(needed) <= memory <= max(100, needed + 1)


@pytest.mark.parametrize(
    ("span_s", "said"),
    [(30, "30 s"), (119, "119 s"), (3600, "60 min"), (86_400, "24 h"), (2e5, "2 d")],
)
def test_a_span_is_said_in_the_unit_that_fits(span_s: float, said: str) -> None:
    advised = recommend(paced(SEEN, 9, span_s), now=0.0)
    assert advised.reason.endswith(f"over {said}")


@pytest.mark.parametrize(
    ("cores", "memory", "cpu_millis", "memory_mb"),
    [
        pytest.param([0.0] * 120, [0] * 120, 10, 100, id="idle"),
        pytest.param([0.25] * 120, [400_000_000] * 120, 260, 1_603, id="constant"),
        pytest.param([0.05, 2.0] * 60, [100_000_000, 900_000_000] * 60, 2_050, 3_606, id="bimodal"),
        pytest.param([0.1] * 119 + [50.0], [10**8] * 119 + [10**10], 105, 40_060, id="one spike"),
        pytest.param(
            [0.1] * 120, [n * 10_000_000 for n in range(1, 121)], 105, 4_808, id="memory grows"
        ),
        pytest.param(
            [1000.0] * 120, [10**12] * 120, 1_000_000, 4_006_000, id="as much as there is"
        ),
    ],
)
def test_every_shape_of_use_gets_whole_amounts_in_their_units(
    cores: list[float], memory: list[int], cpu_millis: int, memory_mb: int
) -> None:
    usages = Usages(most=1)
    for n, (cpu, used) in enumerate(zip(cores, memory, strict=True)):
        at = NOW + 15 * n
        learn(usages, [(key(), summary(at, cpu_cores=cpu, memory_bytes=used))], now=at)
    [seen] = usages.seen([key()], now=NOW + 1800)
    advised = recommend(seen, now=seen.last_at)
    assert isinstance(advised, Recommendation)
    assert (advised.state, advised.memory_mb.value) == ("firm", memory_mb)
    # The percentile is the upper edge of a bucket, 5 % wide and 1m at least.
    assert cpu_millis * 0.95 <= advised.cpu_millis.value <= cpu_millis * 1.05


def test_a_single_point_and_points_of_one_moment_are_no_firm_advice() -> None:
    usages = Usages(most=1)
    learn(usages, [(key(), summary())] * 200, now=NOW)
    [seen] = usages.seen([key()], now=NOW)
    advised = recommend(seen, now=seen.last_at)
    assert isinstance(advised, Recommendation)
    assert (advised.state, seen.span_s) == ("provisional", 15)
