from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
import pytest
from nemutator_common import names
from nemutator_common.wire import Summary
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.ports import UsageSource
from nemutator_controller.sizing.sources.recorded_steps import (
    PodContainer,
    RecordedSteps,
    SourceUnavailableError,
)
from nemutator_controller.sizing.sources.source_learning import (
    AGAIN_S,
    LATE_S,
    OthersTurnError,
    SourceLearning,
)
from nemutator_controller.sizing.usages import Usages

from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.sizing import learn

STEP_S = 300
DAY_S = 86_400.0
NOW = 20_000 * DAY_S
POD = PodContainer("shop", "web-0", "app")
KEY = ContainerKey("shop", "StatefulSet", "web", "app")

SUMMARY = Summary(
    path="/x",
    pod_uid=None,
    container_id=None,
    from_at=NOW,
    to_at=NOW,
    cpu_cores=0.5,
    memory_bytes=200_000_000,
)


class Known:
    def of(self, namespace: str, pod: str, container: str) -> ContainerKey | None:
        return KEY


@dataclass
class Recorded:
    """A `UsageSource` that knows a container at half a core, always."""

    fails: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    asked: list[tuple[float, float]] = field(default_factory=list)

    async def steps(
        self, *, begin: float, end: float, namespaces: Collection[str] | None = None
    ) -> AsyncIterator[RecordedSteps]:
        self.asked.append((begin, end))
        if self.fails:
            self.fails -= 1
            raise SourceUnavailableError("slow")
        self.dropped = {"absurd": 2 * len(self.asked)}
        first = begin // STEP_S * STEP_S
        count = int((end - first) // STEP_S)
        rows = {POD: np.full(count, 0.5)}
        steps = RecordedSteps(first, STEP_S, count, rows, {POD: np.full(count, 2e8)})
        yield replace(steps, warnings=self.warnings)


def learning(
    source: UsageSource, usages: Usages, clock: ManualClock, **more: Any
) -> tuple[SourceLearning, MemoryMeter]:
    meter = MemoryMeter()
    given: dict[str, Any] = {"warm_days": 8, "follows": True, "step_s": STEP_S, **more}
    keys, turn = given.pop("keys", Known()), given.pop("turn", lambda: 0)
    process = fake_process(clock=clock, meter=meter)
    return SourceLearning(source, keys, usages, process, lambda: True, turn, **given), meter


async def test_a_new_brain_learns_the_days_before_and_an_old_one_does_not() -> None:
    clock, usages, source = ManualClock(NOW), Usages(most=10), Recorded()
    made, meter = learning(source, usages, clock)
    await made.warm()
    (seen,) = usages.seen([KEY], now=NOW)
    assert seen.points == 8 * 288 - 1
    assert seen.observed_s > 7.9 * DAY_S
    assert 0.5 <= seen.cpu_p95 <= 0.53
    assert meter.value(names.SOURCE_SAMPLES_LEARNED) == seen.points
    assert meter.value(names.SOURCE_SAMPLES_DROPPED, reason="absurd") == 16
    await made.warm()
    assert len(source.asked) == 8
    assert [begin for begin, _ in source.asked[:-1]] == [end for _, end in source.asked[1:]]


async def test_what_follows_is_learned_once() -> None:
    clock, usages, source = ManualClock(NOW), Usages(most=10), Recorded()
    made, _ = learning(source, usages, clock)
    await made.warm()
    clock.jump(2 * STEP_S + LATE_S)
    await made.follow()
    await made.follow()
    before = usages.seen([KEY], now=clock.now())[0].points
    clock.jump(2 * STEP_S)
    await made.follow()
    (seen,) = usages.seen([KEY], now=clock.now())
    assert seen.points == before + 2
    assert seen.last_at == NOW + 4 * STEP_S
    assert source.asked[-1] == (NOW + 2 * STEP_S, NOW + 4 * STEP_S)


async def test_a_source_that_fails_is_asked_again() -> None:
    clock, usages, source = ManualClock(NOW), Usages(most=10), Recorded(fails=2)
    made, meter = learning(source, usages, clock, follows=False)
    async with in_background(made.run(), clock):
        for _ in range(3):
            await clock.until_sleeping()
            await clock.advance(AGAIN_S)
    assert len(usages) == 1
    assert meter.value(names.SOURCE_READS, result="failed") == 2


@dataclass
class TwoNamespaces:
    """A `UsageSource` that answers for one namespace after another, and fails before some of its answers."""

    fails_before: set[int]
    answered: int = 0
    dropped: Mapping[str, int] = field(default_factory=dict)

    async def steps(
        self, *, begin: float, end: float, namespaces: Collection[str] | None = None
    ) -> AsyncIterator[RecordedSteps]:
        for namespace in ("shop", "store"):
            if self.answered in self.fails_before:
                self.fails_before.remove(self.answered)
                raise SourceUnavailableError("slow")
            self.answered += 1
            pod, first = PodContainer(namespace, "web-0", "app"), begin // STEP_S * STEP_S
            count = int(end // STEP_S * STEP_S - first) // STEP_S
            cores, memory = np.full(count, 0.5), np.full(count, 2e8)
            yield RecordedSteps(first, STEP_S, count, {pod: cores}, {pod: memory})


class ByNamespace:
    def of(self, namespace: str, pod: str, container: str) -> ContainerKey | None:
        return msgspec.structs.replace(KEY, namespace=namespace)


async def test_a_source_that_fails_among_its_days_is_asked_for_the_rest_and_learned_once() -> None:
    clock, usages = ManualClock(NOW), Usages(most=10)
    # Between the days, and between two namespaces of one day.
    source = TwoNamespaces(fails_before={4, 7})
    made, _ = learning(source, usages, clock, follows=False, keys=ByNamespace())
    agents = NOW - 1_800
    learn(usages, [(KEY, replace(SUMMARY, from_at=agents, to_at=agents + 15))], now=NOW)
    async with in_background(made.run(), clock):
        for _ in range(4):
            await clock.until_sleeping()
            await clock.advance(AGAIN_S)
    assert not source.fails_before
    shop, store = usages.seen(
        [KEY, msgspec.structs.replace(KEY, namespace="store")], now=clock.now()
    )
    # What its agent has told is behind the last step that the source tells of it.
    assert shop.points == 8 * 288 - 6 + 1
    assert store.points == 8 * 288 - 1
    for one in (shop, store):
        assert one.observed_s == one.points * STEP_S - (STEP_S - 15 if one is shop else 0)


async def test_a_part_that_is_missing_is_counted_and_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, usages, source = (
        ManualClock(NOW),
        Usages(most=10),
        Recorded(warnings=["a store is away"]),
    )
    made, meter = learning(source, usages, clock)
    await made.warm()
    assert meter.value(names.SOURCE_READS, result="warned") == 8
    assert [one.getMessage() for one in caplog.records].count("usage_source_warns") == 1


async def test_what_came_while_it_failed_follows() -> None:
    clock, usages = ManualClock(NOW), Usages(most=10)
    source = TwoNamespaces(fails_before={4})
    made, _ = learning(source, usages, clock)
    with pytest.raises(SourceUnavailableError):
        await made.warm()
    clock.jump(7_200 + LATE_S)
    await made.warm()
    await made.follow()
    (seen,) = usages.seen([KEY], now=clock.now())
    assert (seen.points, seen.last_at) == (8 * 288 + 24, NOW + 7_200)


async def test_a_brain_that_starts_again_in_the_midst_of_the_days_goes_on_with_the_rest() -> None:
    clock, usages = ManualClock(NOW), Usages(most=10)
    made, _ = learning(TwoNamespaces(fails_before={7}), usages, clock, keys=ByNamespace())
    with pytest.raises(SourceUnavailableError):
        await made.warm()
    clock.jump(7_200)
    again, _ = learning(TwoNamespaces(set()), usages, clock, keys=ByNamespace())
    await again.warm()
    await again.follow()
    for one in usages.seen([KEY, msgspec.structs.replace(KEY, namespace="store")], now=clock.now()):
        # From eight days before the second start on, and nothing twice.
        assert one.points == one.span_s / STEP_S
        assert (one.span_s, one.last_at) == (8 * DAY_S - STEP_S, NOW + 7_200 - STEP_S)


async def test_what_came_while_nobody_learned_is_asked_for_at_the_start() -> None:
    clock, usages = ManualClock(NOW), Usages(most=10)
    made, _ = learning(Recorded(), usages, clock, warm_days=0)
    await made.follow()
    clock.jump(7_200)
    again, _ = learning(Recorded(), usages, clock, warm_days=0)
    await again.warm()
    await again.follow()
    (seen,) = usages.seen([KEY], now=clock.now())
    assert (seen.points, seen.span_s) == (25, 7_500)


async def test_of_several_brains_the_one_whose_turn_it_is_learns() -> None:
    clock, usages, source = ManualClock(NOW), Usages(most=10), Recorded()
    turn: list[int | None] = [None]
    made, _ = learning(source, usages, clock, turn=lambda: turn[0])
    async with in_background(made.run(), clock):
        await clock.until_sleeping()
        assert not source.asked
        for number, asked in ((3, 9), (None, 9), (4, 18)):
            # With another turn what is known has been replaced by what was saved.
            usages.become(Usages(most=10))
            turn[0] = number
            await clock.advance(AGAIN_S)
            await clock.until_sleeping()
            assert len(source.asked) == asked
    (seen,) = usages.seen([KEY], now=clock.now())
    assert seen.points == seen.span_s / STEP_S


async def test_a_turn_that_ends_among_the_days_ends_them() -> None:
    clock, usages = ManualClock(NOW), Usages(most=10)
    turns = iter([1, 1, 1, 2])
    made, _ = learning(TwoNamespaces(set()), usages, clock, turn=lambda: next(turns))
    with pytest.raises(OthersTurnError):
        await made.warm()
    assert usages.seen([KEY], now=NOW)[0].points < 2 * 288
