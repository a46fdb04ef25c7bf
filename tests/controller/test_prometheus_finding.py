from collections.abc import Iterable

import pytest
from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusSeries,
    PrometheusUnavailableError,
)
from nemutator_controller.prometheus_finding import AGAIN_S, KEPT_S, PrometheusFinding
from nemutator_controller.prometheus_services import KNOWS, FoundService, ServiceFacts

from tests.fakes.clocks import ManualClock

WEB = (("web", 9090),)
EMPTY = PrometheusAnswer(series=())
SOME = PrometheusAnswer(series=(PrometheusSeries({}, (1.0,), (2.0,)),))


class Answers:
    """A `FoundQueries`."""

    def __init__(self, said: PrometheusAnswer | Exception) -> None:
        self.said = said
        self.asked: list[str] = []

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        self.asked.append(expression)
        if isinstance(self.said, Exception):
            raise self.said
        return self.said

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        return await self.query(expression)


class Place:
    def __init__(self, **known: Answers) -> None:
        self.known, self.clock = known, ManualClock()
        self.is_listed = True
        self.finding = PrometheusFinding(self.services, self.opened, self.clock)

    def services(self) -> Iterable[ServiceFacts] | None:
        if not self.is_listed:
            return None
        return [
            ServiceFacts(namespace=each, name="prometheus", ports=WEB)
            for each in sorted(self.known)
        ]

    def opened(self, service: FoundService) -> Answers:
        return self.known[service.namespace]


async def test_the_first_that_knows_containers_is_asked() -> None:
    refuses = Answers(PrometheusRefusedError("who are you"))
    place = Place(a=refuses, b=Answers(EMPTY), c=Answers(SOME), d=Answers(SOME))
    assert await place.finding.query("up") == SOME
    assert await place.finding.query_range("up", begin=0, end=1, step_s=1) == SOME
    assert place.known["c"].asked == [KNOWS, "up", "up"]
    assert place.known["d"].asked == []
    assert str(place.finding.chosen) == "Prometheus c/prometheus:9090"


async def test_one_that_is_gone_is_looked_for_anew_at_the_next_question() -> None:
    place = Place(a=Answers(SOME), b=Answers(SOME))
    await place.finding.query("up")
    place.known["a"].said = PrometheusUnavailableError("gone")
    with pytest.raises(PrometheusUnavailableError, match="gone"):
        await place.finding.query("up")
    assert await place.finding.query("up") == SOME
    assert place.known["b"].asked == [KNOWS, "up"]
    place.known["a"].said = SOME
    await place.clock.advance(KEPT_S)
    await place.finding.query("up")
    assert place.known["a"].asked[-2:] == [KNOWS, "up"]


async def test_where_none_is_found_it_says_who_was_tried_and_tries_no_more_for_a_minute() -> None:
    place = Place(a=Answers(EMPTY), b=Answers(PrometheusUnavailableError("refused")))
    for _ in range(2):
        with pytest.raises(
            PrometheusUnavailableError, match=r"a/prometheus:9090: it knows no .*refused"
        ):
            await place.finding.query("up")
    assert place.known["a"].asked == [KNOWS]
    place.known["a"].said = SOME
    await place.clock.advance(AGAIN_S)
    assert await place.finding.query("up") == SOME


async def test_before_services_are_listed_nothing_is_decided() -> None:
    place = Place(a=Answers(SOME))
    place.is_listed = False
    with pytest.raises(PrometheusUnavailableError, match="not listed yet"):
        await place.finding.query("up")
    place.is_listed = True
    assert await place.finding.query("up") == SOME
