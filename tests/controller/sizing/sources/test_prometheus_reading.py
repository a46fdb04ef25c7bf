import re
from dataclasses import dataclass, field

import numpy as np
import pytest
from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusSeries,
    PrometheusTooMuchError,
    PrometheusUnavailableError,
)
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources import queries
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.prometheus_reading import DAY_S, PrometheusReading
from nemutator_controller.sizing.sources.recorded_steps import SourceUnavailableError

BEGIN = 20_000 * DAY_S


@dataclass
class Answers:
    """Prometheus by its questions."""

    counts: dict[str, int]
    recorded: bool = False
    has_owners: bool = True
    fails: Exception | None = None
    asked: list[str] = field(default_factory=list)
    ranges: list[tuple[str, float, float]] = field(default_factory=list)
    """What was asked of use; which namespaces there were is asked, too."""

    async def query(self, expression: str, *, at: float | None = None) -> PrometheusAnswer:
        self.asked.append(expression)
        if self.fails:
            raise self.fails
        if expression.startswith("count"):
            return self.count(expression, [at or 0.0])
        if not self.has_owners:
            named = []
        elif expression.startswith("max_over_time(kube_pod_owner"):
            names = {"pod": "p", "owner_kind": "ReplicaSet", "owner_name": "rs"}
            named = [({"namespace": "shop", **names}, 1.0)]
        elif expression.startswith("max_over_time(kube_replicaset_owner"):
            names = {"replicaset": "rs", "owner_kind": "Deployment", "owner_name": "web"}
            named = [({"namespace": "shop", **names}, 1.0)]
        elif expression.startswith(queries.REQUESTS):
            names = {"pod": "p", "container": "app", "resource": "cpu"}
            named = [({"namespace": "shop", **names}, 0.5)]
        else:
            named = []
        return PrometheusAnswer([PrometheusSeries(one, [1.0], [value]) for one, value in named])

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        if self.fails:
            raise self.fails
        if expression.startswith("count"):
            return self.count(expression, np.arange(begin, end + 1, step_s).tolist())
        self.ranges.append((expression, begin, end))
        of = {"namespace": "shop", "pod": "p", "container": "app"}
        return PrometheusAnswer([PrometheusSeries(of, [begin], [1.0])], {"not_finite": 1}, ["part"])

    def count(self, expression: str, at: list[float]) -> PrometheusAnswer:
        if (":" in expression) != self.recorded:
            return PrometheusAnswer([])
        return PrometheusAnswer(
            [
                PrometheusSeries({"namespace": name}, at, [float(number)] * len(at))
                for name, number in self.counts.items()
            ]
        )


async def read(source: Answers, days: int = 1, **more: int) -> PrometheusReading:
    reading = PrometheusReading(source, NamedOwners(), **more)  # type: ignore[arg-type]
    async for steps in reading.steps(begin=BEGIN + 7, end=BEGIN + days * DAY_S + 7):
        assert steps.step_s == queries.WINDOW_S
        assert steps.warnings == ["part", "part"]
    return reading


async def test_a_day_is_one_question_for_each_figure() -> None:
    source = Answers({"shop": 3, "other": 4})
    reading = await read(source, days=2)
    assert [(begin, end) for _, begin, end in source.ranges] == [
        (BEGIN + 300, BEGIN + DAY_S),
        (BEGIN + 300, BEGIN + DAY_S),
        (BEGIN + DAY_S + 300, BEGIN + 2 * DAY_S),
        (BEGIN + DAY_S + 300, BEGIN + 2 * DAY_S),
    ]
    assert reading.dropped == {"not_finite": 4}
    assert reading.warnings == ["part"]
    assert reading.owners.of("shop", "p", "app") == ContainerKey("shop", "Deployment", "web", "app")


async def test_many_namespaces_are_asked_for_in_parts_and_of_large_ones_less_at_once() -> None:
    source = Answers({"a": 2, "b": 2, "large": 40})
    await read(source, most_samples=288 * 4)
    spans = [
        (end - begin) / 300 + 1 for expression, begin, end in source.ranges if "a|b" in expression
    ]
    assert spans == [288, 288]
    large = [(end - begin) / 300 + 1 for text, begin, end in source.ranges if '"large"' in text]
    assert set(large[:-2]) == {28}
    assert sum(large) == 2 * 288


async def test_rules_are_taken_where_they_are() -> None:
    source = Answers({"shop": 1}, recorded=True)
    await read(source)
    assert all(
        queries.CPU_RULE in text or queries.MEMORY_RULE in text for text, _, _ in source.ranges
    )


async def test_only_one_namespace_is_asked_for_when_only_that_is_wanted() -> None:
    source = Answers({"shop": 1, "other": 90_000})
    reading = PrometheusReading(source, NamedOwners(), namespace="shop")
    assert len([one async for one in reading.steps(begin=BEGIN, end=BEGIN + DAY_S)]) == 1
    assert all('namespace=~"shop"' in text for text, _, _ in source.ranges)


async def test_only_some_namespaces_are_asked_for_when_only_those_are_wanted() -> None:
    source = Answers({"shop": 3, "store": 2, "other": 4})
    reading = PrometheusReading(source, NamedOwners())
    wanted = reading.steps(begin=BEGIN, end=BEGIN + DAY_S, namespaces={"shop", "store", "gone"})
    assert len([one async for one in wanted]) == 1
    assert len(source.ranges) == 2
    assert all('namespace=~"shop|store"' in expression for expression, _, _ in source.ranges)


@dataclass
class Changing(Answers):
    """One in which not everything was there all day, nor in all of its metrics."""

    by_metric: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    """Namespaces, and from when to when they had one container."""
    refused: str = ""

    def count(self, expression: str, at: list[float]) -> PrometheusAnswer:
        if self.refused and re.search(self.refused, f"{len(at)} {expression}"):
            raise PrometheusTooMuchError("too many samples")
        lives = [one for metric, one in self.by_metric.items() if metric in expression]
        found = []
        for name, (begin, end) in (lives[0] if lives else {}).items():
            if seen := [moment for moment in at if begin <= moment - BEGIN <= end]:
                found.append(PrometheusSeries({"namespace": name}, seen, [1.0] * len(seen)))
        return PrometheusAnswer(found)


def asked_by_name(source: Answers) -> set[str]:
    """One namespace at a time, of which each is asked for by its name."""
    return {
        name for text, _, _ in source.ranges for name in ("early", "cpu", "late") if name in text
    }


ALL_DAY = (0.0, float(DAY_S))


async def test_what_has_gone_by_the_end_of_the_day_is_asked_for_too() -> None:
    source = Changing(
        {},
        by_metric={
            queries.WORKING_SET: {"early": (3_000.0, 9_000.0), "late": ALL_DAY},
            queries.CPU_TOTAL: {"cpu": ALL_DAY, "late": ALL_DAY},
        },
    )
    await read(source, most_samples=288)
    assert asked_by_name(source) == {"early", "cpu", "late"}
    gone = Changing({}, by_metric={queries.WORKING_SET: {"early": (3_000.0, 9_000.0)}})
    await read(gone)
    assert len(gone.ranges) == 2


async def test_rules_that_began_within_the_day_are_not_taken_for_it() -> None:
    rules = {"late": (40_000.0, float(DAY_S))}
    source = Changing({}, by_metric={queries.CPU_RULE: rules, queries.CPU_TOTAL: {"late": ALL_DAY}})
    await read(source)
    assert source.ranges
    assert not any(queries.CPU_RULE in text for text, _, _ in source.ranges)
    # Where nothing else was kept, they say what they know.
    alone = Changing({}, by_metric={queries.CPU_RULE: rules})
    await read(alone)
    assert all("nemutator:" in text for text, _, _ in alone.ranges)
    assert alone.ranges


@pytest.mark.parametrize("refused", ["^24 ", "^24 |^1 .*cpu"])
async def test_who_cannot_count_a_day_is_asked_for_its_end(refused: str) -> None:
    known = {metric: {"late": ALL_DAY} for metric in (queries.CPU_TOTAL, queries.WORKING_SET)}
    source = Changing({}, by_metric=known, refused=refused)
    await read(source)
    assert len(source.ranges) == 2


async def test_who_cannot_count_at_all_says_so() -> None:
    with pytest.raises(SourceUnavailableError, match="too many samples"):
        await read(Changing({}, refused="count"))


@dataclass
class Limited(Answers):
    """A Prometheus that computes few points at once."""

    most: int = 0
    asked_for: list[int] = field(default_factory=list)

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        if expression.startswith("count"):
            return self.count(expression, np.arange(begin, end + 1, step_s).tolist())
        series = [
            {"namespace": name, "pod": "p", "container": "app"}
            for name in self.counts
            if "namespace=~" not in expression or name in expression
        ]
        moments = np.arange(begin, end + 1, step_s)
        self.asked_for.append(len(series) * len(moments))
        if self.asked_for[-1] > self.most:
            raise PrometheusTooMuchError("too many points")
        return PrometheusAnswer(
            [PrometheusSeries(one, moments.tolist(), [0.5] * len(moments)) for one in series]
        )


async def test_who_computes_less_at_once_is_asked_for_less() -> None:
    source = Limited({"shop": 1, "store": 1, "other": 1}, most=100)
    known: dict[str, list[float]] = {}
    reading = PrometheusReading(source, NamedOwners())
    async for steps in reading.steps(begin=BEGIN, end=BEGIN + DAY_S):
        ends = steps.begin + steps.step_s * np.arange(1, steps.count + 1)
        for of, cores in steps.cores.items():
            known.setdefault(of.namespace, []).extend(ends[~np.isnan(cores)].tolist())
    assert known.keys() == {"shop", "store", "other"}
    assert all(one == [BEGIN + 300 * n for n in range(1, 289)] for one in known.values())
    assert len(source.asked_for) < 50


async def test_who_computes_nothing_is_given_up_soon() -> None:
    source = Limited({"shop": 1, "store": 1}, most=0)
    with pytest.raises(SourceUnavailableError, match="too many points"):
        await read(source)
    assert len(source.asked_for) < 20


async def test_nothing_is_asked_where_nothing_was() -> None:
    source = Answers({})
    await read(source)
    assert source.ranges == []


async def test_requests_are_told_where_kube_state_metrics_is() -> None:
    reading = await read(Answers({"shop": 1}))
    (found,) = (await reading.requested()).items()
    assert found[1].cpu_millis == 500


@pytest.mark.parametrize(
    "error", [PrometheusUnavailableError("gone"), PrometheusRefusedError("no")]
)
async def test_why_it_says_nothing_is_said(error: Exception) -> None:
    with pytest.raises(SourceUnavailableError, match=str(error)):
        await read(Answers({"shop": 1}, fails=error))
