import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.up.keeping import PATIENCE_S, STEP_S, Keeper
from nemutator_ctl.up.observing import Observing
from nemutator_ctl.up.processes import Command, Ended
from nemutator_ctl.up.raising import Outcome

from tests.fakes.clocks import ManualClock
from tests.fakes.processes import FakeChild, FakeProcesses

PLAIN = Command(("observe",))
AS_IT_IS = Outcome(None, "as an ordinary user: sudo refused")
AS_ROOT = Outcome("/usr/bin/sudo", "as root")


@dataclass
class Scene:
    """`observe` beside a brain that is what the test says."""

    outcome: Outcome = AS_IT_IS
    clock: ManualClock = field(default_factory=ManualClock)
    processes: FakeProcesses = field(default_factory=FakeProcesses)
    answered: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.brain = self._keeper("brain", FakeProcesses())
        self.keeper = self._keeper("observe", self.processes)

    def _keeper(self, name: str, processes: FakeProcesses) -> Keeper:
        return Keeper(
            name,
            processes=processes,
            probe=processes.probe,
            clock=self.clock,
            roll=lambda: 0.0,
            drain_s=0.5,
        )

    async def _outcome(self) -> Outcome:
        return self.outcome

    def observing(self) -> Observing:
        return Observing(
            keeper=self.keeper,
            brain=self.brain,
            plain=PLAIN,
            raised=lambda sudo: Command((sudo, *PLAIN.argv), raised=True),
            outcome=self._outcome,
            answered=self.answered,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[asyncio.Task[None]]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.observing().run())
            await self.answered.wait()
            yield task
            task.cancel()

    @property
    def started(self) -> list[bool]:
        """Whether each child so far was raised."""
        return [child.command.raised for child in self.processes.children]


async def test_it_starts_once_the_brain_is_ready() -> None:
    scene = Scene()
    async with scene.running():
        await scene.clock.advance(5.0)
        assert scene.started == []
        assert scene.keeper.problem == "it waits for brain"
        scene.brain.problem = None
        await scene.clock.advance(STEP_S)
        assert scene.started == [False]
        assert scene.keeper.note == AS_IT_IS.note


async def test_it_starts_all_the_same_when_the_brain_takes_too_long() -> None:
    scene = Scene()
    async with scene.running():
        await scene.clock.until_sleeping()
        await scene.clock.advance(PATIENCE_S)
        assert scene.started == [False]


async def test_it_starts_as_root_where_that_was_granted() -> None:
    scene = Scene(AS_ROOT)
    scene.brain.problem = None
    async with scene.running():
        await scene.clock.advance(0.0)
        assert scene.processes.last.command == Command(("/usr/bin/sudo", "observe"), raised=True)
        assert scene.keeper.note == "as root"


async def test_one_that_dies_as_root_goes_on_without() -> None:
    def made(child: FakeChild) -> None:
        if child.command.raised:
            child.end(Ended(1))

    scene = Scene(AS_ROOT, processes=FakeProcesses(made))
    scene.brain.problem = None
    async with scene.running():
        await scene.clock.until_sleeping()
        await scene.clock.advance(60.0)
        assert scene.started[-2:] == [True, False]
        assert scene.keeper.problem is None
        assert "could not be kept running as root" in scene.keeper.note


async def test_what_nobody_can_mend_by_other_rights_ends_it() -> None:
    scene = Scene(
        AS_ROOT, processes=FakeProcesses(lambda child: child.end(Ended(ExitCode.SETTINGS)))
    )
    scene.brain.problem = None
    with pytest.raises(OperatorError) as caught:
        await scene.observing().run()
    assert caught.value.code is ExitCode.SETTINGS
    assert scene.started == [True]
