import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.recommendation import NotYet, Recommendation, recommend
from nemutator_controller.sizing.usages import KnownUsage, Usages

from tests.controller.sizing.test_usages import NOW, key, summary

SEEN = KnownUsage(
    key=ContainerKey("shop", "Deployment", "cart", "app"),
    points=100,
    span_s=1500.0,
    step_s=15.0,
    last_at=0.0,
    cpu_p50=0.1,
    cpu_p95=0.2,
    memory_p95=200_000_000,
    memory_max=200_000_000,
)


def test_with_a_hundred_points_advice_is_firm() -> None:
    assert recommend(SEEN, now=0.0) == Recommendation(
        "firm", cpu_millis=200, memory_mb=230, reason=""
    )


def test_with_fewer_it_is_provisional_and_says_of_what_span() -> None:
    advised = recommend(replace(SEEN, points=40, span_s=600.0), now=0.0)
    assert isinstance(advised, Recommendation)
    assert (advised.state, advised.reason) == ("provisional", "40 of 100 points, over 10 min")


def test_many_replicas_of_one_moment_do_not_make_it_firm() -> None:
    advised = recommend(replace(SEEN, points=300, span_s=45.0), now=0.0)
    assert isinstance(advised, Recommendation)
    assert (advised.state, advised.reason) == (
        "provisional",
        "300 points of 45 s, firm after 24 min",
    )


def test_a_span_has_not_reached_what_it_is_near_to() -> None:
    advised = recommend(replace(SEEN, points=23, span_s=345.0), now=0.0)
    assert advised.reason == "23 of 100 points, over 5 min"


def test_what_has_ended_is_said_to_be_last_seen_and_nobody_is_sent_to_ask_again() -> None:
    gone = replace(SEEN, points=1)
    assert recommend(gone, now=3700.0) == NotYet("1 of 8 points, last seen 61 min ago")
    advised = recommend(replace(SEEN, points=40, span_s=600.0), now=7300.0)
    assert advised.reason == "40 of 100 points, over 10 min; last seen 2 h ago"
    firm = recommend(SEEN, now=7300.0)
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
    advised = recommend(replace(SEEN, cpu_p95=0.001, memory_max=1000), now=0.0)
    assert advised == Recommendation("firm", cpu_millis=10, memory_mb=100, reason="")


def test_a_whole_amount_is_not_rounded_up_by_its_binary_fraction() -> None:
    advised = recommend(replace(SEEN, cpu_p95=0.07), now=0.0)
    assert isinstance(advised, Recommendation)
    assert advised.cpu_millis == 70


@given(st.floats(0, 1000), st.integers(0, 10**12), st.integers(8, 10**6))
def test_advice_covers_what_was_seen_and_little_more(
    cpu_p95: float, memory_max: int, points: int
) -> None:
    advised = recommend(
        replace(SEEN, cpu_p95=cpu_p95, memory_max=memory_max, points=points), now=0.0
    )
    assert isinstance(advised, Recommendation)
    assert cpu_p95 * 1000 <= advised.cpu_millis + 1e-6
    assert advised.cpu_millis <= max(10, cpu_p95 * 1000 + 1)
    needed = memory_max * 1.15 / 1e6
    assert math.floor(needed) <= advised.memory_mb <= max(100, needed + 1)


@pytest.mark.parametrize(
    ("span_s", "said"),
    [(30, "30 s"), (119, "119 s"), (3600, "60 min"), (86_400, "24 h"), (2e5, "2 d")],
)
def test_a_span_is_said_in_the_unit_that_fits(span_s: float, said: str) -> None:
    advised = recommend(replace(SEEN, points=9, span_s=span_s), now=0.0)
    assert advised.reason.endswith(f"over {said}")


@pytest.mark.parametrize(
    ("cores", "memory", "cpu_millis", "memory_mb"),
    [
        pytest.param([0.0] * 120, [0] * 120, 10, 100, id="idle"),
        pytest.param([0.25] * 120, [400_000_000] * 120, 260, 460, id="constant"),
        pytest.param([0.05, 2.0] * 60, [100_000_000, 900_000_000] * 60, 2_050, 1_035, id="bimodal"),
        pytest.param([0.1] * 119 + [50.0], [10**8] * 119 + [10**10], 110, 11_500, id="one spike"),
        pytest.param(
            [0.1] * 120, [n * 10_000_000 for n in range(1, 121)], 110, 1_380, id="memory grows"
        ),
        pytest.param(
            [1000.0] * 120, [10**12] * 120, 1_000_000, 1_150_000, id="as much as there is"
        ),
    ],
)
def test_every_shape_of_use_gets_whole_amounts_in_their_units(
    cores: list[float], memory: list[int], cpu_millis: int, memory_mb: int
) -> None:
    usages = Usages(most=1)
    for n, (cpu, used) in enumerate(zip(cores, memory, strict=True)):
        at = NOW + 15 * n
        usages.learn([(key(), summary(at, cpu_cores=cpu, memory_bytes=used))], now=at)
    [seen] = usages.seen([key()], now=NOW + 1800)
    advised = recommend(seen, now=seen.last_at)
    assert isinstance(advised, Recommendation)
    assert (advised.state, advised.memory_mb) == ("firm", memory_mb)
    # The percentile is the upper edge of a bucket, 5 % wide and 10m at least.
    assert cpu_millis * 0.95 <= advised.cpu_millis <= cpu_millis * 1.05


def test_a_single_point_and_points_of_one_moment_are_no_firm_advice() -> None:
    usages = Usages(most=1)
    usages.learn([(key(), summary())] * 200, now=NOW)
    [seen] = usages.seen([key()], now=NOW)
    advised = recommend(seen, now=seen.last_at)
    assert isinstance(advised, Recommendation)
    assert (advised.state, seen.span_s) == ("provisional", 15)
