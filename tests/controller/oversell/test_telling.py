"""The status of a NodeOversell is written when it changes, and not all the time."""

import asyncio
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.failures import ForbiddenError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.writing import Writer
from nemutator_controller.oversell.objects import NODE_OVERSELLS
from nemutator_controller.oversell.telling import EVERY_S, OversellStatuses
from nemutator_controller.oversell.verdicts import NodeVerdict

from tests.controller.oversell.test_verdicts import verdict
from tests.controller.updating.test_telling import NO_WATCH_LIST, listed
from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport


class Telling:
    def __init__(self, *answers: Said) -> None:
        item = {"metadata": {"name": "p", "uid": "u", "generation": 2}, "spec": {}}
        self.reads = ScriptedTransport(NO_WATCH_LIST, listed(item))
        self.writes, self.clock, self.meter = (
            ScriptedTransport(*answers),
            ManualClock(),
            MemoryMeter(),
        )
        self.informer = Informer(
            NODE_OVERSELLS, transport=self.reads, process=fake_process(clock=EagerClock())
        )
        self.verdicts: list[NodeVerdict] | None = [verdict()]
        self.made = OversellStatuses(
            self.informer,
            Writer(self.writes, WriteBudget(EagerClock()), EagerClock()),
            lambda: self.verdicts,
            dict,
            fake_process(clock=self.clock, meter=self.meter),
        )

    def written(self) -> list[Any]:
        return [msgspec.json.decode(call.body)["status"] for call in self.writes.calls]


async def test_nodes_reasons_and_conditions_are_written_and_not_more_often_than_each_minute() -> (
    None
):
    one = Telling(b"{}", b"{}")
    await one.made.write()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(one.informer.run())
        await one.reads.over.wait()
        there, one.verdicts = one.verdicts, None
        await one.made.write()
        assert one.written() == []
        one.verdicts = there
        await one.made.write()
        [status] = one.written()
        assert status["nodes"] == [{"name": "n", "ratio": "1.50", "reason": "asked"}]
        assert status["reasons"] == [{"reason": "asked", "nodes": 1}]
        assert [each["type"] for each in status["conditions"]] == ["Ready", "Oversold"]
        one.verdicts = [verdict(ratio=140)]
        await one.made.write()
        assert len(one.written()) == 1
        await one.clock.advance(EVERY_S)
        await one.made.write()
        assert one.written()[1]["nodes"][0]["ratio"] == "1.40"
        task.cancel()


async def test_what_cannot_be_written_is_counted_and_tried_again() -> None:
    one = Telling(ForbiddenError("nodeoversells", "no"), b"{}")
    async with asyncio.TaskGroup() as group:
        task = group.create_task(one.informer.run())
        await one.reads.over.wait()
        await one.made.write()
        await one.made.write()
        task.cancel()
    assert one.meter.value(names.OVERSELL_STATUSES, result="failed") == 1
    assert one.meter.value(names.OVERSELL_STATUSES, result="written") == 1
