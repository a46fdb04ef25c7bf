import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_ctl.up.keeping import STEP_S, Keeper
from nemutator_ctl.up.processes import Command, Ended
from nemutator_ctl.up.restarts import BACKOFF
from nemutator_ctl.up.returning import Returning

from tests.fakes.clocks import ManualClock
from tests.fakes.processes import SIGKILL, FakeChild, FakeProcesses

ANY = Command(("brain", "--console=127.0.0.1:0"))
FIRST = Command(("brain", "--console=127.0.0.1:4000"))
IN_USE = Ended(ExitCode.ADDRESS_IN_USE)


@dataclass
class Scene:
    made: Callable[[FakeChild], None] = lambda child: None
    plain: Command = ANY
    clock: ManualClock = field(default_factory=ManualClock)
    moved: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.processes = FakeProcesses(self.made)
        brain = Keeper(
            "brain",
            processes=self.processes,
            probe=self.processes.probe,
            clock=self.clock,
            roll=lambda: 0.0,
            drain_s=0.5,
        )
        self.returning = Returning(
            brain=brain,
            plain=self.plain,
            at=lambda address: Command(("brain", f"--console={address}")),
            moved=self.moved,
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.returning.run())
            await self.clock.advance(STEP_S)
            yield
            task.cancel()

    async def killed(self) -> None:
        self.processes.last.end(SIGKILL)
        await self.clock.advance(0.0)
        await self.clock.advance(BACKOFF.longest_s)

    @property
    def started(self) -> list[Command]:
        return [child.command for child in self.processes.children]


def found(scene: Scene) -> None:
    scene.returning.found("http://127.0.0.1:4000/open?key=x")


async def test_a_brain_that_was_found_somewhere_comes_back_there() -> None:
    scene = Scene()
    async with scene.running():
        found(scene)
        await scene.killed()
        await scene.killed()
        assert scene.started == [ANY, FIRST, FIRST]
        assert not scene.moved.is_set()


async def test_one_that_nobody_has_found_starts_as_it_was_wished_for() -> None:
    scene = Scene()
    async with scene.running():
        await scene.killed()
        assert scene.started == [ANY, ANY]


async def test_where_somebody_else_listens_by_now_it_moves_and_says_so() -> None:
    scene = Scene(lambda child: child.end(IN_USE) if child.command == FIRST else None)
    async with scene.running():
        found(scene)
        await scene.killed()
        assert scene.started == [ANY, FIRST, ANY]
        assert scene.moved.is_set()
        assert scene.returning.brain.problem is None


async def test_an_address_that_was_wished_for_and_is_taken_ends_it() -> None:
    scene = Scene(lambda child: child.end(IN_USE), plain=FIRST)
    found(scene)
    with pytest.raises(OperatorError) as caught:
        await scene.returning.run()
    assert caught.value.code is ExitCode.ADDRESS_IN_USE
    assert scene.started == [FIRST]
