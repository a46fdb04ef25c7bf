import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace

from nemutator_common import names
from nemutator_controller.ageing.assessing import EVERY_S, AgeingAssessments
from nemutator_controller.ageing.findings import Findings
from nemutator_controller.ageing.model import AgedWorkload, AgeingFinding, WindowSource
from nemutator_controller.ageing.trends import DAY_S

from tests.fakes.ageing import SHOP, MemoryWindows, kept_windows, window_source
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


@dataclass
class Told:
    """An `AgeingNews` that remembers."""

    notes: list[str] = field(default_factory=list)

    def notify(self, finding: AgeingFinding, note: str) -> None:
        self.notes.append(note)


class Everything:
    """`WorkloadOwners`: all is the shop's."""

    def of(self, source: WindowSource) -> AgedWorkload | None:
        return SHOP


async def at_once(work: Callable[[], AgeingFinding]) -> AgeingFinding:
    return work()


@dataclass
class Brain:
    """Looks over a store in memory."""

    store: MemoryWindows = field(default_factory=MemoryWindows)
    told: Told = field(default_factory=Told)
    findings: Findings = field(default_factory=Findings)
    clock: ManualClock = field(default_factory=lambda: ManualClock(now=600.0))
    meter: MemoryMeter = field(default_factory=MemoryMeter)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        process = fake_process(clock=self.clock, meter=self.meter)
        assessments = AgeingAssessments(
            self.store, self.findings, Everything(), self.told, in_thread=at_once, process=process
        )
        await assessments.restore()
        async with in_background(assessments.run(), self.clock):
            yield

    async def look(self) -> None:
        await self.clock.advance(EVERY_S)
        await self.clock.until_sleeping(1)


async def test_a_leak_is_found_told_once_and_remembered() -> None:
    brain = Brain()
    source = window_source()
    brain.store.sources[source] = kept_windows(3, grows_by=5)
    async with brain.running():
        assert [one.verdict for one in brain.findings.all()] == ["cannot tell"]
        brain.store.sources[source] = kept_windows(10, grows_by=5)
        await brain.look()
        await brain.look()
        (found,) = brain.findings.all()
        assert (found.verdict, found.told) == ("leak", True)
        (note,) = brain.told.notes
        assert note.startswith("shop: leak (provisional): heap grows")
        assert brain.meter.value(names.AGED_WORKLOADS, verdict="leak") == 1
    again = Brain(store=brain.store)
    async with again.running():
        (found,) = again.findings.all()
        assert found.first_seen == 600.0 + EVERY_S
        assert again.told.notes == []


async def test_a_reading_is_looked_at_once() -> None:
    brain = Brain()
    source = window_source()
    brain.store.sources[source] = kept_windows(10, grows_by=5)
    async with brain.running():
        await brain.look()
        await brain.look()
        assert brain.store.histories == 1
        brain.store.sources[source] = kept_windows(11, grows_by=5)
        await brain.look()
        assert brain.store.histories == 2


async def test_what_is_known_for_hours_is_not_looked_at_with_each_reading() -> None:
    brain = Brain(clock=ManualClock(now=36_000.0))
    source = window_source()
    brain.store.sources[source] = kept_windows(60, every_s=600, grows_by=1)
    async with brain.running():
        # Ten hours are known: half an hour more may say something new.
        for count, histories in ((61, 1), (62, 1), (63, 2), (64, 2)):
            brain.store.sources[source] = kept_windows(count, every_s=600, grows_by=1)
            brain.clock.jump(600 - EVERY_S)
            await brain.look()
            assert brain.store.histories == histories
        # A deploy is another matter.
        brain.store.sources[window_source(2, image="b2", started_at=39_000)] = [
            replace(one, at=39_000 + one.at) for one in kept_windows(3)
        ]
        await brain.look()
        assert brain.store.histories == 3


async def test_after_the_first_days_there_is_one_look_a_day() -> None:
    brain = Brain(clock=ManualClock(now=7 * DAY_S))
    source = window_source()
    brain.store.sources[source] = kept_windows(7 * 48, every_s=1800, grows_by=0.1)
    async with brain.running():
        first = brain.findings.all()[0].looked_at
        await brain.look()
        assert brain.findings.all()[0].looked_at == first
        # A deploy is looked at at once, and so is the next day.
        deployed = window_source(2, image="b2", started_at=7 * DAY_S)
        brain.store.sources[deployed] = [kept_windows(1)[0]]
        brain.store.sources[deployed] = [
            replace(one, at=7 * DAY_S + one.at) for one in kept_windows(2)
        ]
        await brain.look()
        found = brain.findings.all()[0]
        assert (found.image, found.verdict) == ("b2", "cannot tell")


async def test_a_database_that_is_away_is_asked_again() -> None:
    brain = Brain()
    brain.store.sources[window_source()] = kept_windows(10, grows_by=5)
    brain.store.is_away = True
    async with brain.running():
        assert brain.findings.all() == []
        brain.store.is_away = False
        await brain.look()
        assert [one.verdict for one in brain.findings.all()] == ["leak"]
