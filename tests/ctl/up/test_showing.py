import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.up.keeping import Keeper
from nemutator_ctl.up.processes import Command, Ended
from nemutator_ctl.up.showing import BUILT_WITHIN_S, PROFILED_WITHIN_S, STEP_S, Furniture, Showing
from nemutator_ctl.up.trying import Tries

from tests.fakes.clocks import ManualClock
from tests.fakes.processes import FakeProcesses

SAMPLE = Command(("scripts/sample",))
UNFIT = OperatorError("no such thing", remedy="make one", code=ExitCode.FAILED)


@dataclass
class FakeStage:
    go: bool = True
    outcome: str | None = ""
    refusal: OperatorError | None = None
    profiles: list[int] = field(default_factory=list)

    async def furnish(self) -> Furniture:
        if self.refusal:
            raise self.refusal
        return Furniture(secret="greeting", mutation="7f")

    async def is_go(self, pid: int) -> bool:
        return self.go

    async def profile(self, pid: int) -> str:
        self.profiles.append(pid)
        return "p1"

    async def profiled(self, profile: str) -> str | None:
        assert profile == "p1"
        return self.outcome


@dataclass
class Scene:
    stage: FakeStage = field(default_factory=FakeStage)
    clock: ManualClock = field(default_factory=ManualClock)
    processes: FakeProcesses = field(default_factory=FakeProcesses)
    told: list[Tries] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.brain = self._keeper("brain")
        self.sample = self._keeper("sample")

    def _keeper(self, name: str) -> Keeper:
        return Keeper(
            name,
            processes=self.processes,
            probe=self.processes.probe,
            clock=self.clock,
            roll=lambda: 0.0,
            drain_s=0.5,
        )

    @contextlib.asynccontextmanager
    async def running(self, *, brain: bool = True) -> AsyncIterator[None]:
        self.brain.problem = None if brain else "starting"
        showing = Showing(
            sample=self.sample,
            command=SAMPLE,
            needed=(self.brain,),
            stage=self.stage,
            clock=self.clock,
            say=self.told.append,
        )
        async with asyncio.TaskGroup() as group:
            task = group.create_task(showing.run())
            await self.clock.advance(0.0)
            yield
            task.cancel()


FURNISHED = Tries(secret="greeting", mutation="7f")


async def test_what_can_be_tried_is_told_before_and_after_the_first_profile() -> None:
    scene = Scene(FakeStage(outcome=None))
    async with scene.running():
        await scene.clock.advance(STEP_S)
        pid = scene.processes.last.pid
        assert scene.stage.profiles == [pid]
        assert scene.told == [FURNISHED.of(pid)]
        scene.stage.outcome = ""
        await scene.clock.advance(STEP_S)
        assert scene.told == [FURNISHED.of(pid), FURNISHED.seen(pid)]
        await scene.clock.advance(600.0)
        assert len(scene.told) == 2


async def test_nothing_is_put_up_before_the_others_stand() -> None:
    scene = Scene()
    async with scene.running(brain=False):
        await scene.clock.advance(60.0)
        assert scene.told == []
        scene.brain.problem = None
        await scene.clock.advance(2 * STEP_S)
        assert scene.told


async def test_no_profile_is_asked_for_while_the_sample_is_being_built() -> None:
    scene = Scene(FakeStage(go=False))
    async with scene.running():
        await scene.clock.advance(BUILT_WITHIN_S - 2 * STEP_S)
        assert scene.stage.profiles == []
        assert scene.told == []
        scene.stage.go = True
        await scene.clock.advance(STEP_S)
        assert scene.stage.profiles


async def test_a_profile_that_was_refused_is_told_with_its_reason() -> None:
    scene = Scene(FakeStage(outcome="no BPF\n  remedy: run as root"))
    async with scene.running():
        await scene.clock.advance(STEP_S)
        pid = scene.processes.last.pid
        assert scene.told[-1] == FURNISHED.of(pid).without("no BPF\n  remedy: run as root")


async def test_a_profile_that_never_comes_is_told_as_that() -> None:
    scene = Scene(FakeStage(outcome=None))
    async with scene.running():
        await scene.clock.advance(PROFILED_WITHIN_S + 2 * STEP_S)
        assert "has not come" in (scene.told[-1].problem or "")


async def test_what_cannot_be_put_up_is_told_and_the_sample_runs_on() -> None:
    scene = Scene(FakeStage(refusal=UNFIT))
    async with scene.running():
        assert scene.told == [Tries(problem=str(UNFIT))]
        assert scene.processes.last.poll() is None


async def test_a_sample_that_cannot_be_built_ends_nothing() -> None:
    scene = Scene(processes=FakeProcesses(lambda child: child.end(Ended(ExitCode.SETTINGS))))
    async with scene.running():
        await scene.clock.advance(BUILT_WITHIN_S + STEP_S)
        assert scene.sample.problem is not None
        assert scene.told == [
            FURNISHED.without("the sample does not run; its own message is above")
        ]
