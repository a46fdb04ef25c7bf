from msgspec.structs import replace
from nemutator_controller.sizing.documents import HourlyRecommendation, advice_list
from nemutator_controller.sizing.hourly.recommended_hours import with_hourly
from nemutator_controller.sizing.hourly.requests import STRATEGY, HourlyRequest
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.known_usage import KnownUsage

from tests.fakes.sizing import NOTHING_GROWS, columns_of

WEB = ContainerKey("shop", "Deployment", "web", "app")
OTHER = ContainerKey("shop", "Deployment", "other", "app")
SEEN = KnownUsage(
    key=WEB,
    points=100,
    span_s=1_500.0,
    step_s=15.0,
    sampled_s=1_500.0,
    steps=100.0,
    last_at=7.0,
    cpu_p50=0.1,
    cpu_p95=0.2,
    memory_p95=200_000_000,
    memory_max=200_000_000,
)


def test_the_request_of_the_hour_stands_beside_advice_and_changes_nothing_of_it() -> None:
    seen = columns_of(SEEN, replace(SEEN, key=OTHER))
    advice = advice_list(seen, {}, NOTHING_GROWS, now=8.0)
    made = HourlyRequest(hour=10, millis=120, changes=2, reason="from 10:00 UTC on")
    web, other = with_hourly(advice, {WEB: made})
    assert web.hourly == HourlyRecommendation(
        strategy=STRATEGY, begins_at=36_000.0, cpu="120m", changes=2, reason="from 10:00 UTC on"
    )
    assert replace(web, hourly=None) == advice[0]
    assert other == advice[1]
    none_yet = HourlyRequest(hour=10, millis=None, reason="too young")
    [web, _] = with_hourly(advice, {WEB: none_yet})
    assert web.hourly is not None
    assert (web.hourly.cpu, web.hourly.reason) == (None, "too young")


def test_where_nothing_is_followed_hourly_nothing_is_looked_through() -> None:
    advice = advice_list(columns_of(SEEN), {}, NOTHING_GROWS, now=8.0)
    assert with_hourly(advice, {}) is advice
