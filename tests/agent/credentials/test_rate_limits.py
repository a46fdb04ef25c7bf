import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.rate_limits import RateLimit, RateLimits


def test_a_burst_is_allowed_and_then_the_rate() -> None:
    bucket = RateLimit(rate=2, burst=3)
    assert [bucket.take(0.0) for _ in range(4)] == [True, True, True, False]
    assert not bucket.take(0.4)
    assert bucket.take(0.5)
    assert not bucket.take(0.5)


def test_what_costs_more_makes_the_next_ones_wait() -> None:
    bucket = RateLimit(rate=2, burst=3)
    assert bucket.take(0.0)
    bucket.spend(9)
    assert not bucket.take(3.9)
    assert bucket.take(4.0)


def test_a_long_rest_saves_no_more_than_the_burst() -> None:
    bucket = RateLimit(rate=2, burst=3)
    bucket.take(0.0)
    assert sum(bucket.take(1e6) for _ in range(10)) == 3


@given(
    rate=st.floats(0.1, 100),
    burst=st.floats(1, 100),
    pauses=st.lists(st.floats(0, 5), max_size=60),
)
def test_nobody_ever_gets_more_than_burst_and_rate(
    rate: float, burst: float, pauses: list[float]
) -> None:
    bucket, now, taken = RateLimit(rate=rate, burst=burst), 0.0, 0
    for pause in pauses:
        now += pause
        taken += bucket.take(now)
    assert taken <= burst + rate * now + 1e-6


def test_callers_do_not_share() -> None:
    buckets = RateLimits(rate=1, burst=1)
    assert buckets.take("a", 0.0)
    assert buckets.take("b", 0.0)
    assert not buckets.take("a", 0.0)


def test_who_asked_longest_ago_is_forgotten() -> None:
    buckets = RateLimits(rate=1, burst=1, most=2)
    for who in ("a", "b", "c"):
        assert buckets.take(who, 0.0)
    # `a` starts anew; `c` is remembered.
    assert buckets.take("a", 0.0)
    assert not buckets.take("c", 0.0)


def test_those_that_have_to_wait_come_one_after_the_other() -> None:
    limit = RateLimit(rate=10, burst=2)
    assert [limit.wait_s(0.0) for _ in range(4)] == [0.0, 0.0, 0.1, 0.2]
    assert limit.wait_s(0.2) == pytest.approx(0.1)
    assert limit.wait_s(10.0) == 0.0
