import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

from nemutator_ctl.up.announcement import Standing, Unseen
from nemutator_ctl.up.announcing import LATER_STEP_S, Announcer
from nemutator_ctl.up.keeping import PATIENCE_S, STEP_S, Keeper

from tests.fakes.clocks import ManualClock
from tests.fakes.processes import FakeProcesses

NO_BPF = Unseen("stacks", "not root", "use sudo")
Told = tuple[list[str], list[str], str | None]


@dataclass
class Scene:
    clock: ManualClock = field(default_factory=ManualClock)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    report: Sequence[Unseen] | None = None
    told: list[Told] = field(default_factory=list)

    def __post_init__(self) -> None:
        processes = FakeProcesses()
        self.keepers = [
            Keeper(
                name,
                processes=processes,
                probe=processes.probe,
                clock=self.clock,
                roll=lambda: 0.0,
                drain_s=0.5,
            )
            for name in ("brain", "observe")
        ]

    def ready(self) -> None:
        for keeper in self.keepers:
            keeper.problem = None

    async def _link(self) -> str | None:
        return "http://x/open" if self.keepers[0].problem is None else None

    async def _unseen(self) -> Sequence[Unseen] | None:
        return self.report

    def _say(
        self, processes: Sequence[Standing], unseen: Sequence[Unseen], link: str | None
    ) -> None:
        self.told.append(([p.state for p in processes], [fact.what for fact in unseen], link))

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        announcer = Announcer(
            keepers=self.keepers,
            answered=self.answered,
            moved=self.moved,
            clock=self.clock,
            link=self._link,
            unseen=self._unseen,
            say=self._say,
        )
        async with asyncio.TaskGroup() as group:
            task = group.create_task(announcer.run())
            await asyncio.sleep(0)
            yield
            task.cancel()


STANDS: Told = (["ready", "ready"], ["stacks"], "http://x/open")


async def test_everything_is_told_once_all_are_ready_and_have_reported() -> None:
    scene = Scene()
    scene.answered.set()
    async with scene.running():
        scene.ready()
        await scene.clock.advance(1.0)
        assert scene.told == []
        scene.report = (NO_BPF,)
        await scene.clock.advance(2 * STEP_S)
        assert scene.told == [STANDS]
        await scene.clock.advance(100.0)
        assert scene.told == [STANDS]


async def test_nothing_is_told_while_a_person_is_asked() -> None:
    scene = Scene(report=(NO_BPF,))
    scene.ready()
    async with scene.running():
        await scene.clock.advance(10 * PATIENCE_S)
        assert scene.told == []
        scene.answered.set()
        await scene.clock.advance(STEP_S)
        assert scene.told == [STANDS]


async def test_what_does_not_stand_in_time_is_told_and_everything_again_when_it_does() -> None:
    scene = Scene(report=(NO_BPF,))
    scene.answered.set()
    async with scene.running():
        await scene.clock.advance(PATIENCE_S + STEP_S)
        waiting = "not ready: not started yet"
        assert scene.told == [([waiting, waiting], [], None)]
        scene.ready()
        await scene.clock.advance(2 * LATER_STEP_S)
        assert scene.told[1:] == [STANDS]


async def test_everything_is_told_again_when_the_page_has_moved_and_stands() -> None:
    scene = Scene(report=(NO_BPF,))
    scene.answered.set()
    scene.ready()
    async with scene.running():
        await scene.clock.advance(STEP_S)
        assert scene.told == [STANDS]
        scene.keepers[0].problem = "starting"
        scene.moved.set()
        await scene.clock.advance(STEP_S)
        assert scene.told == [STANDS]
        scene.ready()
        await scene.clock.advance(STEP_S)
        assert scene.told == [STANDS, STANDS]
        await scene.clock.advance(100.0)
        assert len(scene.told) == 2
