"""Which brain does what, and who is refused."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from nemutator_common import names
from nemutator_common.errors import OperatorError
from nemutator_controller.app.leadership import Leadership, refuse_many_on_a_file, resumed
from nemutator_controller.app.parts import Task, TaskPhase
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.kube.calls import Call
from nemutator_controller.settings.brain import BrainSettings

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

POSTGRES = "postgresql://nemutator@postgres.example/nemutator"


class NoServer:
    """A `Transport` that nobody calls."""

    async def send(self, call: Call) -> bytes:
        raise AssertionError(call)

    def stream(
        self, call: Call, *, idle_s: float
    ) -> contextlib.AbstractAsyncContextManager[AsyncIterator[bytes]]:
        raise AssertionError(call)


async def idle() -> None:
    await asyncio.Event().wait()


TASKS = [
    Task(TaskPhase.WORK, "profiles", idle),
    Task(TaskPhase.WORK, "evict pods", idle, alone=True),
    Task(TaskPhase.WATCH, "policies' statuses", idle, alone=True),
]


def leadership(settings: BrainSettings, meter: MemoryMeter) -> Leadership:
    return Leadership(settings, NoServer(), fake_process(meter=meter))


def test_a_brain_with_a_file_of_its_own_always_leads_and_does_everything() -> None:
    meter = MemoryMeter()
    alone = leadership(BrainSettings(cluster=True), meter)
    assert alone.now()
    assert {task.name for task in alone.arranged(TASKS)} >= {task.name for task in TASKS}
    assert meter.value(names.BRAIN_LEADS) == 1


def test_of_brains_that_share_a_database_each_waits_for_the_lease() -> None:
    one = leadership(BrainSettings(cluster=True, database=POSTGRES), MemoryMeter())
    assert not one.now()
    assert one.holder == ""
    arranged = one.arranged(TASKS)
    found = {task.name for task in arranged}
    assert "profiles" in found
    assert not found & {"evict pods", "policies' statuses"}
    # It stops before the lease is given back.
    phases = {task.name: task.phase for task in arranged}
    assert phases["lead"] > phases["elect who leads"]


async def test_who_leads_reads_first_what_the_former_one_has_left() -> None:
    clock, seen = ManualClock(), []

    async def resume() -> None:
        seen.append("resume")
        if len(seen) == 1:
            raise StoreUnavailableError("gone")

    async def run() -> None:
        seen.append("run")

    async with asyncio.TaskGroup() as group:
        group.create_task(resumed(resume, run, fake_process(clock=clock))())
        await clock.until_sleeping()
        await clock.advance(5.0)
    assert seen == ["resume", "resume", "run"]


@pytest.mark.parametrize("host", ["nemutator-brain-1", "nemutator-brain-12"])
def test_a_further_replica_with_a_file_of_its_own_is_refused(host: str) -> None:
    with pytest.raises(OperatorError, match="further brain"):
        refuse_many_on_a_file(BrainSettings(cluster=True), host)
    refuse_many_on_a_file(BrainSettings(cluster=True, database=POSTGRES), host)
    refuse_many_on_a_file(BrainSettings(cluster=False), host)


@pytest.mark.parametrize("host", ["nemutator-brain-0", "worker-3", "nemutator-brain-1.example"])
def test_other_names_say_nothing_about_replicas(host: str) -> None:
    refuse_many_on_a_file(BrainSettings(cluster=True), host)
