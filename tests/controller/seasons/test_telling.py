"""The status of a SeasonPolicy is written when it changes."""

import asyncio
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.failures import ForbiddenError, InvalidError, NotFoundError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.conditions import SeasonForce
from nemutator_controller.policies.season_objects import SEASON_POLICIES
from nemutator_controller.seasons.telling import SeasonStatuses

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport

NO_WATCH_LIST = InvalidError("watch", "sendInitialEvents is forbidden")
WHY = "the season of the cluster is peak"


def listed(*items: dict[str, Any]) -> bytes:
    head = {"kind": "List", "metadata": {"resourceVersion": "9"}}
    return msgspec.json.encode(head | {"items": items})


async def told(
    answer: Said, *said: dict[str, Any], fault: str = ""
) -> tuple[MemoryMeter, list[list[dict[str, Any]]]]:
    """The meter, and the conditions of each write."""
    item = {
        "metadata": {"name": "p", "uid": "u", "generation": 2},
        "spec": {},
        "status": {"conditions": said},
    }
    reads, writes = ScriptedTransport(NO_WATCH_LIST, listed(item)), ScriptedTransport(answer)
    meter = MemoryMeter()
    informer = Informer(
        SEASON_POLICIES, transport=reads, process=fake_process(clock=EagerClock(), meter=meter)
    )
    telling = SeasonStatuses(
        informer,
        Writer(writes, WriteBudget(EagerClock()), EagerClock()),
        lambda: {} if fault else {"p": SeasonForce(in_force=True, why=WHY)},
        lambda: {"p": fault} if fault else {},
        fake_process(meter=meter, clock=ManualClock()),
    )
    # Before anything is listed nothing is written.
    await telling.write()
    assert writes.calls == []
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        await reads.over.wait()
        await telling.write()
        task.cancel()
    bodies = [msgspec.json.decode(call.body) for call in writes.calls]
    return meter, [body["status"]["conditions"] for body in bodies]


async def test_what_is_in_force_and_why_is_written_once() -> None:
    meter, [conditions] = await told(b"{}")
    assert [(one["type"], one["status"]) for one in conditions] == [
        ("Ready", "True"),
        ("InForce", "True"),
    ]
    assert conditions[1]["message"] == WHY
    assert meter.value(names.SEASON_STATUSES, result="written") == 1
    _, nothing = await told(b"{}", *conditions)
    assert nothing == []


async def test_a_fault_is_told() -> None:
    _, [[ready]] = await told(b"{}", fault="spec.when.season: name at least one")
    assert (ready["status"], ready["reason"]) == ("False", "Faulty")


async def test_what_cannot_be_written_is_counted_and_what_is_gone_is_not() -> None:
    meter, _ = await told(ForbiddenError("seasonpolicies", "no"))
    assert meter.value(names.SEASON_STATUSES, result="failed") == 1
    meter, _ = await told(NotFoundError("seasonpolicies", "gone"))
    assert meter.value(names.SEASON_STATUSES, result="failed") == 0
