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
from nemutator_controller.updating.telling import RECOMMENDED_EVERY_S, SizingStatuses

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport
from tests.fakes.sized_pods import firm, pod_document, pod_of

NO_WATCH_LIST = InvalidError("watch", "sendInitialEvents is forbidden")


def listed(*items: dict[str, Any]) -> bytes:
    head = {"kind": "List", "metadata": {"resourceVersion": "9"}}
    return msgspec.json.encode(head | {"items": items})


class Telling:
    """Statuses of one policy, of which pods follow."""

    def __init__(self, *answers: Said) -> None:
        item = {"metadata": {"name": "p", "uid": "u", "generation": 2}, "spec": {}}
        self.reads = ScriptedTransport(NO_WATCH_LIST, listed(item))
        self.writes, self.clock = ScriptedTransport(*answers), ManualClock()
        self.informer = Informer(
            SIZING_POLICIES, transport=self.reads, process=fake_process(clock=EagerClock())
        )
        self.progress = PolicyProgress(mode="InPlace")
        self.made = SizingStatuses(
            self.informer,
            Writer(self.writes, WriteBudget(EagerClock()), EagerClock()),
            lambda: {"p": self.progress},
            dict,
            fake_process(clock=self.clock),
        )

    def written(self) -> list[list[dict[str, Any]]]:
        return [msgspec.json.decode(call.body)["status"]["workloads"] for call in self.writes.calls]


async def test_advice_is_written_with_the_conditions_and_no_more_often_than_every_few_minutes() -> (
    None
):
    one = Telling(b"{}", b"{}", b"{}")
    one.progress.advise(pod_of(pod_document()), {"app": firm(cpu="150m")})
    async with asyncio.TaskGroup() as group:
        task = group.create_task(one.informer.run())
        await one.reads.over.wait()
        for _ in range(2):
            # The watch shows nothing of what was written, so conditions are due each time.
            await one.made.write()
        await one.clock.advance(RECOMMENDED_EVERY_S)
        one.progress = PolicyProgress(mode="InPlace")
        await one.made.write()
        task.cancel()
    first, soon, later = one.written()
    [workload] = first
    assert (workload["name"], workload["containers"][0]["target"]) == ("web", {"cpu": "150m"})
    assert (soon, later) == (first, [])


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
