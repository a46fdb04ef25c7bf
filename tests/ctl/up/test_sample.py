import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.up import sample_objects
from nemutator_ctl.up.child import Child
from nemutator_ctl.up.command_lines import Command, Typed
from nemutator_ctl.up.restarts import Ended
from nemutator_ctl.up.sample import BUILT_WITHIN_S, PROFILED_WITHIN_S, STEP_S, Sample
from nemutator_ctl.up.sample_objects import PutUp

from tests.fakes.clocks import ManualClock
from tests.fakes.processes import FakeProcesses

THERE = PutUp(secret="greeting", mutation="7f")
TYPED = Typed("nemutator", Path("/data"), named=False)
OBJECTS = Path("/data/objects")
TO_TRY = sample_objects.to_try(THERE, TYPED, objects=OBJECTS)

SAMPLE = Command(("scripts/sample",))
UNFIT = OperatorError("no such thing", remedy="make one", code=ExitCode.FAILED)


@dataclass
class FakeSampleApi:
    go: bool = True
    ended: str | None = ""
    refusal: OperatorError | None = None
    profiles: list[int] = field(default_factory=list)

    async def put_up(self) -> PutUp:
        if self.refusal:
            raise self.refusal
        return THERE

    async def is_go(self, pid: int) -> bool:
        return self.go

    async def profile(self, pid: int) -> str:
        self.profiles.append(pid)
        return "p1"

    async def failure(self, profile: str) -> str | None:
        assert profile == "p1"
        return self.ended


@dataclass
class Scene:
    api: FakeSampleApi = field(default_factory=FakeSampleApi)
    clock: ManualClock = field(default_factory=ManualClock)
    processes: FakeProcesses = field(default_factory=FakeProcesses)
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.brain = self._child("brain", Command(("brain",)))
        self.sample = self._child("sample", SAMPLE)

    def _child(self, name: str, command: Command) -> Child:
        return Child(
            name=name,
            command=command,
            processes=self.processes,
            health=self.processes,
            clock=self.clock,
            roll=lambda: 0.0,
            drain_s=0.5,
        )

    @contextlib.asynccontextmanager
    async def running(self, *, brain: bool = True) -> AsyncIterator[None]:
        self.brain.problem = None if brain else "starting"
        sample = Sample(
            child=self.sample,
            needed=(self.brain,),
            api=self.api,
            clock=self.clock,
            typed=TYPED,
            objects=OBJECTS,
            say=self.told.append,
        )
        async with asyncio.TaskGroup() as group:
            task = group.create_task(sample.run())
            await self.clock.advance(0.0)
            yield
            task.cancel()


async def test_the_profile_command_is_told_once_a_first_profile_is_there() -> None:
    scene = Scene(FakeSampleApi(ended=None))
    async with scene.running():
        await scene.clock.advance(STEP_S)
        pid = scene.processes.last.pid
        assert scene.api.profiles == [pid]
        assert scene.told == [TO_TRY]
        scene.api.ended = ""
        await scene.clock.advance(STEP_S)
        assert scene.told == [TO_TRY, sample_objects.profiled(pid, TYPED)]
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
    scene = Scene(FakeSampleApi(go=False))
    async with scene.running():
        await scene.clock.advance(BUILT_WITHIN_S - 2 * STEP_S)
        assert scene.api.profiles == []
        assert scene.told == [TO_TRY]
        scene.api.go = True
        await scene.clock.advance(STEP_S)
        assert scene.api.profiles


async def test_where_profiles_are_refused_the_reason_is_told_and_no_command_that_cannot_work() -> (
    None
):
    scene = Scene(FakeSampleApi(ended="no BPF\n  remedy: run as root"))
    async with scene.running():
        await scene.clock.advance(STEP_S)
        assert scene.told == [TO_TRY, sample_objects.not_shown("no BPF\n  remedy: run as root")]
        assert "nemutator profile" not in "".join(scene.told)


async def test_a_profile_that_never_comes_is_told_as_that() -> None:
    scene = Scene(FakeSampleApi(ended=None))
    async with scene.running():
        await scene.clock.advance(PROFILED_WITHIN_S + 2 * STEP_S)
        assert "has not come" in scene.told[-1]


async def test_what_cannot_be_put_up_is_told_and_the_sample_runs_on() -> None:
    scene = Scene(FakeSampleApi(refusal=UNFIT))
    async with scene.running():
        assert scene.told == [sample_objects.not_shown(str(UNFIT))]
        assert scene.processes.last.poll() is None


async def test_a_sample_that_cannot_be_built_ends_nothing() -> None:
    scene = Scene(processes=FakeProcesses(lambda child: child.end(Ended(ExitCode.SETTINGS))))
    async with scene.running():
        await scene.clock.advance(BUILT_WITHIN_S + STEP_S)
        assert scene.sample.problem is not None
        assert scene.told[1:] == [
            sample_objects.not_shown("the sample does not run; its own message is above")
        ]
