"""The status of a SizingPolicy is written when it changes."""

import asyncio
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.failures import ForbiddenError, InvalidError, NotFoundError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.writing import Writer
from nemutator_controller.updating.objects import SIZING_POLICIES
from nemutator_controller.updating.progress import PolicyProgress
from nemutator_controller.updating.telling import SizingStatuses

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport

NO_WATCH_LIST = InvalidError("watch", "sendInitialEvents is forbidden")


def listed(*items: dict[str, Any]) -> bytes:
    head = {"kind": "List", "metadata": {"resourceVersion": "9"}}
    return msgspec.json.encode(head | {"items": items})


async def told(answer: Said) -> tuple[MemoryMeter, list[dict[str, Any]]]:
    """The meter, and the conditions that were written."""
    item = {"metadata": {"name": "p", "uid": "u", "generation": 2}, "spec": {}}
    reads, writes = ScriptedTransport(NO_WATCH_LIST, listed(item)), ScriptedTransport(answer)
    clock, meter = ManualClock(), MemoryMeter()
    informer = Informer(
        SIZING_POLICIES, transport=reads, process=fake_process(clock=EagerClock(), meter=meter)
    )
    telling = SizingStatuses(
        informer,
        Writer(writes, WriteBudget(EagerClock()), EagerClock()),
        lambda: {"p": PolicyProgress(mode="InPlace")},
        dict,
        fake_process(meter=meter, clock=clock),
    )
    # Before anything is listed nothing is written.
    await telling.write()
    assert writes.calls == []
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        await reads.over.wait()
        await telling.write()
        task.cancel()
    [call] = writes.calls
    conditions: list[dict[str, Any]] = msgspec.json.decode(call.body)["status"]["conditions"]
    return meter, conditions


async def test_the_conditions_are_written() -> None:
    meter, conditions = await told(b"{}")
    assert [(each["type"], each["status"]) for each in conditions] == [
        ("Ready", "True"),
        ("Given", "True"),
    ]
    assert meter.value(names.SIZING_STATUSES, result="written") == 1


async def test_what_cannot_be_written_is_counted_and_what_is_gone_is_not() -> None:
    meter, _ = await told(ForbiddenError("sizingpolicies", "no"))
    assert meter.value(names.SIZING_STATUSES, result="failed") == 1
    meter, _ = await told(NotFoundError("sizingpolicies", "gone"))
    assert meter.value(names.SIZING_STATUSES, result="failed") == 0
