from msgspec.structs import replace
from nemutator_common import names
from nemutator_controller.sizing.documents import Advice, RecommendedAmounts, Use
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.measuring import (
    AT_ONCE,
    MEASURED_S,
    AdviceMeasuring,
    wasted_nanos,
)
from nemutator_controller.sizing.usages import Usages

from tests.controller.sizing.test_usages import NOW, key, summary
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.sizing import NOTHING_GROWS, FixedRequests, learn

ADVICE = Advice(
    namespace="shop", owner_kind="Deployment", owner="web", container="app",
    strategy="nemutator", state="firm", reason="", points=9, span_s=1.0, last_at=1.0,
    use=Use(cpu_p50=0, cpu_p95=0, memory_p95=0, memory_max=0),
    requests_now=RecommendedAmounts(cpu="500m", memory="1000000000"),
    requests=RecommendedAmounts(cpu="200m", memory="1200M"), limits=RecommendedAmounts(), pods=3,
)  # fmt: skip


def test_what_all_pods_request_beyond_firm_advice_is_added_up() -> None:
    young = replace(ADVICE, state="provisional")
    unknown = replace(ADVICE, requests_now=RecommendedAmounts())
    assert wasted_nanos([ADVICE, young, unknown, ADVICE], "cpu") == 1_800_000_000
    assert wasted_nanos([ADVICE], "memory") == 0


class Nothing:
    async def now(self) -> dict[ContainerKey, object]:
        return {}

    def of(self, key: ContainerKey) -> None:
        return None


async def test_it_is_told_every_few_minutes() -> None:
    clock, meter = ManualClock(), MemoryMeter()
    process = fake_process(clock=clock, meter=meter)
    measuring = AdviceMeasuring(Usages(most=5), Nothing(), Nothing(), process)  # type: ignore[arg-type]
    async with in_background(measuring.run(), clock):
        await clock.advance(MEASURED_S)
        assert meter.value(names.RECOMMENDED_CONTAINERS, state="firm") == 0
        assert meter.value(names.WASTED_CORES) == 0


async def test_of_more_than_one_turn_adds_up_all_are_counted() -> None:
    clock, meter = ManualClock(NOW), MemoryMeter()
    usages, count = Usages(most=2 * AT_ONCE), AT_ONCE + 1
    learn(usages, [(key(f"o{number}"), summary()) for number in range(count)], now=NOW)
    process = fake_process(clock=clock, meter=meter)
    measuring = AdviceMeasuring(usages, FixedRequests({}), NOTHING_GROWS, process)
    async with in_background(measuring.run(), clock):
        await clock.advance(MEASURED_S)
        states = ("firm", "provisional", "not_yet")
        told = [meter.value(names.RECOMMENDED_CONTAINERS, state=state) for state in states]
    assert sum(told) == count
