"""Work that has lost its right: what it still wants to write is not sent."""

import asyncio
import contextlib

import pytest
from nemutator_common.supervising import Body, Supervisor, TaskEndedError
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.failures import TooManyRequestsError
from nemutator_controller.kube.fencing import FencedError, fenced
from nemutator_controller.kube.resources import PODS
from nemutator_controller.kube.writing import Writer

from tests.fakes.scripted_kube import EagerClock, ScriptedTransport

LABEL = {"metadata": {"labels": {"a": "b"}}}


async def in_a_task(body: Body) -> None:
    supervisor = Supervisor()
    supervisor.add("work", body)
    with contextlib.suppress(TaskEndedError):
        await supervisor.run(asyncio.Event())


async def test_work_writes_while_it_may_and_nothing_after_that() -> None:
    clock, transport = EagerClock(), ScriptedTransport(b"{}", b"{}")
    writer, rights = Writer(transport, WriteBudget(clock), clock), [True]

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(writer.merge_patch(PODS, "team", "web", LABEL))
        rights.clear()
        with pytest.raises(FencedError, match="create pods/eviction in namespace team"):
            await writer.evict("team", "web")

    await in_a_task(fenced(work, lambda: bool(rights)))
    assert len(transport.calls) == 1


async def test_a_write_that_waits_for_its_next_try_loses_its_right_meanwhile() -> None:
    clock = EagerClock()
    busy = TooManyRequestsError("patch pods", "429", retry_after_s=3)
    transport = ScriptedTransport(busy, b"{}")
    writer = Writer(transport, WriteBudget(clock), clock)

    async def work() -> None:
        await writer.merge_patch(PODS, "team", "web", LABEL)

    with pytest.raises(FencedError):
        await in_a_task(fenced(work, lambda: not transport.calls))
    assert len(transport.calls) == 1


async def test_what_is_no_part_of_that_work_is_not_asked() -> None:
    clock, transport = EagerClock(), ScriptedTransport(b"{}", b"{}")
    writer = Writer(transport, WriteBudget(clock), clock)

    async def work() -> None:
        return None

    await in_a_task(fenced(work, lambda: False))
    await writer.merge_patch(PODS, "team", "web", LABEL)
    assert len(transport.calls) == 1
