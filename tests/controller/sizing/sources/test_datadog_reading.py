import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.datadog_answers import (
    DatadogAnswer,
    DatadogBusyError,
    DatadogRefusedError,
    DatadogUnavailableError,
    read_answer,
)
from nemutator_controller.sizing.sources.datadog_questions import DatadogQuestion
from nemutator_controller.sizing.sources.datadog_reading import DAY_S, DatadogReading
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.recorded_steps import (
    PodContainer,
    RecordedSteps,
    SourceUnavailableError,
)

from tests.fakes.clocks import ManualClock
from tests.fakes.datadog import FakeDatadog

BEGIN = 20_000 * DAY_S


@dataclass
class Direct:
    """The fake, without HTTP in between."""

    fake: FakeDatadog = field(default_factory=FakeDatadog)
    fails: list[Exception] = field(default_factory=list)
    """In the place of the next answers."""
    pause_s: float = 0.0
    asked: list[str] = field(default_factory=list)
    spans: list[tuple[float, float]] = field(default_factory=list)

    async def ask(self, question: DatadogQuestion, *, units: Sequence[str]) -> DatadogAnswer:
        self.asked.append(question.queries[0])
        self.spans.append((question.begin, question.end))
        if self.fails:
            raise self.fails.pop(0)
        content = json.dumps(self.fake.answer(json.loads(question.body()))).encode()
        answer = read_answer(content, units=units, now=BEGIN + 100 * DAY_S)
        return DatadogAnswer(answer.series, answer.dropped, self.pause_s)


def a_day_of(
    fake: FakeDatadog, *, namespace: str = "shop", pod: str = "cart-7c9d8f5b6d-x2x9k", **more: str
) -> None:
    tags = {"kube_namespace": namespace, "pod_name": pod, "kube_container_name": "app", **more}
    moments = [BEGIN + 300.0 * number + 20 for number in range(288)]
    fake.keep("kubernetes.cpu.usage.total", dict.fromkeys(moments, 400000000.0), **tags)
    fake.keep("kubernetes.cpu.usage.total", {at + 60: 0.6e9 for at in moments}, **tags)
    fake.keep("kubernetes.memory.working_set", dict.fromkeys(moments, 200e6), **tags)
    fake.keep("kubernetes.memory.working_set", {BEGIN + 3_700: 300e6}, **tags)
    fake.keep("kubernetes.cpu.requests", {BEGIN + DAY_S - 60: 0.5}, **tags)
    fake.keep("kubernetes.containers.running", {BEGIN + 60: 1.0}, pod=pod, kube_namespace=namespace)


def reading(source: Direct, **more: object) -> DatadogReading:
    clock = ManualClock(BEGIN + DAY_S)
    return DatadogReading(source, NamedOwners(), clock, **{"longest_wait_s": 60.0, **more})  # type: ignore[arg-type]


async def all_of(source: DatadogReading, *, days: int = 1) -> list[RecordedSteps]:
    return [one async for one in source.steps(begin=BEGIN, end=BEGIN + days * DAY_S)]


async def test_a_day_is_one_question_for_both_figures_and_one_for_how_many_there_are() -> None:
    source = Direct()
    a_day_of(source.fake)
    [steps] = await all_of(reading(source))
    assert len(source.asked) == 2
    of = PodContainer("shop", "cart-7c9d8f5b6d-x2x9k", "app")
    # The average of what was measured within each step, and the peak of memory.
    assert steps.cores[of].tolist() == pytest.approx([0.5] * 288)
    assert (steps.begin, steps.memory[of][12], steps.memory[of][13]) == (BEGIN, 300e6, 200e6)


async def test_an_owner_is_what_is_said_and_else_guessed() -> None:
    source = Direct()
    a_day_of(source.fake, kube_ownerref_kind="statefulset", kube_ownerref_name="ledger")
    a_day_of(source.fake, pod="web-6bb8d5c7f9-abcde")
    a_day_of(
        source.fake, pod="odd", kube_ownerref_kind="replicaset", kube_ownerref_name="api-7c9d8f5b6d"
    )
    known = reading(source)
    await all_of(known)
    for pod, kind, name in (
        ("cart-7c9d8f5b6d-x2x9k", "StatefulSet", "ledger"),
        ("web-6bb8d5c7f9-xxxxx", "Deployment", "web"),
        ("odd", "Deployment", "api"),
    ):
        assert known.owners.of("shop", pod, "app") == ContainerKey("shop", kind, name, "app")


async def test_requests_are_those_of_now() -> None:
    source = Direct()
    a_day_of(source.fake)
    (found,) = (await reading(source).requested()).values()
    assert (found.cpu_millis, found.memory_bytes, found.pods) == (500, None, 1)


async def test_many_namespaces_are_asked_for_in_parts_and_of_large_ones_less_at_once() -> None:
    source = Direct()
    for namespace, pods in (("a", 2), ("b", 2), ("large", 40)):
        for number in range(pods):
            a_day_of(source.fake, namespace=namespace, pod=f"p-{number}")
    known = reading(source, most_samples=288 * 4)
    steps = await all_of(known)
    assert sum("kube_namespace IN (a, b)" in one for one in source.asked) == 1
    large = [
        (end - begin) / 300
        for text, (begin, end) in zip(source.asked, source.spans, strict=True)
        if "IN (large)" in text
    ]
    assert (max(large), sum(large)) == (28, 288)
    seen = {of for one in steps for of in one.cores}
    assert len(seen) == 44
    assert known.dropped == {}


async def test_only_one_cluster_and_namespace_is_asked_for_when_only_that_is_wanted() -> None:
    source = Direct()
    a_day_of(source.fake, kube_cluster_name="west")
    a_day_of(source.fake, namespace="other", kube_cluster_name="west")
    fake = source.fake
    fake.keep(
        "kubernetes.containers.running",
        {BEGIN: 1.0},
        pod="p",
        kube_namespace="shop",
        kube_cluster_name="west",
    )
    [steps] = await all_of(reading(source, cluster="west", namespace="shop"))
    assert {of.namespace for of in steps.cores} == {"shop"}
    assert all("kube_cluster_name:west AND kube_namespace IN (shop)" in one for one in source.asked)


async def test_a_namespace_that_is_no_name_is_not_asked_for() -> None:
    source = Direct()
    a_day_of(source.fake)
    a_day_of(source.fake, namespace="other")
    a_day_of(source.fake, namespace="x} by {host")
    known = reading(source, most_samples=288)
    seen = {of.namespace for one in await all_of(known) for of in one.cores}
    assert seen == {"shop", "other"}


async def test_nothing_is_asked_where_nothing_was() -> None:
    source = Direct()
    assert await all_of(reading(source), days=2) == []
    assert len(source.asked) == 2


@pytest.mark.parametrize(
    "error",
    [DatadogUnavailableError("gone"), DatadogRefusedError("no"), DatadogBusyError(61.0)],
)
async def test_why_it_says_nothing_is_said(error: Exception) -> None:
    with pytest.raises(SourceUnavailableError, match=str(error)):
        await all_of(reading(Direct(fails=[error])))


async def test_when_it_has_been_asked_too_often_it_is_asked_again_after_the_period() -> None:
    source = Direct(fails=[DatadogBusyError(20.0)])
    a_day_of(source.fake)
    known = reading(source)
    clock = known.clock
    assert isinstance(clock, ManualClock)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(all_of(known))
        await clock.until_sleeping()
        assert len(source.asked) == 1
        await clock.advance(20.0)
    assert len(task.result()) == 1


async def test_nobody_is_asked_while_nothing_is_left_of_a_period() -> None:
    source = Direct(pause_s=30.0)
    a_day_of(source.fake)
    known = reading(source)
    clock = known.clock
    assert isinstance(clock, ManualClock)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(all_of(known))
        await clock.until_sleeping()
        assert len(source.asked) == 1
        await clock.advance(30.0)
        assert len(source.asked) == 2
    assert len(task.result()) == 1


async def test_a_period_that_lasts_too_long_for_who_asks_is_not_waited_for() -> None:
    source = Direct(pause_s=61.0)
    a_day_of(source.fake)
    with pytest.raises(SourceUnavailableError, match="asked too often"):
        await all_of(reading(source))
    assert len(source.asked) == 1


async def test_one_that_refuses_again_and_again_is_left_alone() -> None:
    source = Direct(fails=[DatadogBusyError(0.0) for _ in range(5)])
    with pytest.raises(SourceUnavailableError, match="asked too often"):
        await all_of(reading(source))
    assert len(source.asked) == 3


async def test_only_some_namespaces_are_asked_for_when_only_those_are_wanted() -> None:
    source = Direct()
    for namespace in ("shop", "store", "other"):
        a_day_of(source.fake, namespace=namespace)
    wanted = reading(source).steps(begin=BEGIN, end=BEGIN + DAY_S, namespaces={"shop", "store"})
    (steps,) = [one async for one in wanted]
    assert {of.namespace for of in steps.cores} == {"shop", "store"}
    assert "kube_namespace IN (shop, store)" in source.asked[-1]
