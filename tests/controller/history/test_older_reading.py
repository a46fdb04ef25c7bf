import asyncio
from dataclasses import dataclass, field, replace

import pytest
from nemutator_common import names
from nemutator_controller.history.older import PART, OlderQuestion
from nemutator_controller.history.older_reading import (
    AT_ONCE,
    FAILED_S,
    KEPT,
    KEPT_S,
    OlderUnavailableError,
    ReadingBack,
)
from nemutator_controller.prometheus_answers import (
    PrometheusAnswer,
    PrometheusRefusedError,
    PrometheusSeries,
    PrometheusUnavailableError,
)
from nemutator_controller.sizing.keys import ContainerKey

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

ASKED = OlderQuestion(ContainerKey("shop", "Deployment", "api", "app"), 3600, 3600, 2)


@dataclass
class Source:
    fails: Exception | None = None
    hangs: bool = False
    warnings: tuple[str, ...] = ()
    asked: list[tuple[float, float, float]] = field(default_factory=list)
    under_way: int = 0
    most_under_way: int = 0

    async def query_range(
        self, expression: str, *, begin: float, end: float, step_s: float
    ) -> PrometheusAnswer:
        self.asked.append((begin, end, step_s))
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            await (asyncio.Event().wait() if self.hangs else asyncio.sleep(0))
        finally:
            self.under_way -= 1
        if self.fails:
            raise self.fails
        series = PrometheusSeries({PART: "cpu_cores_mean"}, [7200.0, 9999.0], [0.5, 0.5])
        return PrometheusAnswer([series], {"not_finite": 3}, self.warnings)


async def test_an_answer_is_kept_for_a_while_and_what_was_left_out_counted() -> None:
    clock, meter, source = ManualClock(), MemoryMeter(), Source()
    reading = ReadingBack(source, fake_process(clock=clock, meter=meter))
    first = await reading.cells(ASKED)
    assert await reading.cells(ASKED) is first
    assert source.asked == [(7200, 10800, 3600)]
    assert meter.value(names.HISTORY_READ_BACK, result="answered") == 1
    assert meter.value(names.HISTORY_READ_BACK_DROPPED, reason="not_finite") == 3
    assert meter.value(names.HISTORY_READ_BACK_DROPPED, reason="off_grid") == 1
    await clock.advance(KEPT_S + 1)
    await reading.cells(ASKED)
    assert len(source.asked) == 2


@pytest.mark.parametrize(
    "error", [PrometheusUnavailableError("it is away"), PrometheusRefusedError("it is away")]
)
async def test_a_failure_is_not_asked_for_again_at_once(error: Exception) -> None:
    clock, meter, source = ManualClock(), MemoryMeter(), Source(fails=error)
    reading = ReadingBack(source, fake_process(clock=clock, meter=meter))
    for _ in range(3):
        with pytest.raises(OlderUnavailableError, match="it is away"):
            await reading.cells(ASKED)
    assert len(source.asked) == 1
    assert meter.value(names.HISTORY_READ_BACK, result="failed") == 1
    source.fails = None
    await clock.advance(FAILED_S + 1)
    assert (await reading.cells(ASKED)).samples == 1


async def test_an_answer_that_lacks_a_part_says_so_and_is_soon_asked_for_again() -> None:
    clock, meter, source = ManualClock(), MemoryMeter(), Source(warnings=("a store is away",))
    reading = ReadingBack(source, fake_process(clock=clock, meter=meter))
    for _ in range(3):
        assert (await reading.cells(ASKED)).warnings == ("a store is away",)
    assert len(source.asked) == 1
    assert meter.value(names.HISTORY_READ_BACK, result="warned") == 1
    source.warnings = ()
    await clock.advance(FAILED_S + 1)
    assert (await reading.cells(ASKED)).warnings == ()


async def test_who_hangs_is_given_up() -> None:
    meter = MemoryMeter()
    reading = ReadingBack(Source(hangs=True), fake_process(meter=meter), deadline_s=0.01)
    with pytest.raises(OlderUnavailableError, match="has not answered within"):
        await reading.cells(ASKED)
    assert meter.value(names.HISTORY_READ_BACK, result="late") == 1


async def test_few_are_asked_at_once_and_few_answers_kept() -> None:
    source = Source()
    reading = ReadingBack(source, fake_process())
    async with asyncio.TaskGroup() as group:
        for number in range(KEPT + 4):
            group.create_task(reading.cells(replace(ASKED, begin=3600 * number)))
    assert source.most_under_way == AT_ONCE
    for number in range(KEPT + 4):
        await reading.cells(replace(ASKED, begin=3600 * number))
    assert len(source.asked) > KEPT + 4
