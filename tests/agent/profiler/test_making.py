"""One profile by itself; test_sessions.py has more of what is asked for and told by the way of a session."""

import asyncio
from dataclasses import replace

import pytest
from nemutator_agent.profiler.heap.sites import HeapReading
from nemutator_agent.profiler.making import Bounds, ProfileMaking
from nemutator_agent.profiler.raw import RawRow
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.targets import ResolvedTarget, TargetSelection
from nemutator_common.wire import ProfilePhase, ProfileRequest, ProfileTarget

from tests.fakes.clocks import ManualClock
from tests.fakes.heaps import MemoryHeaps
from tests.fakes.process import fake_process
from tests.fakes.samplers import (
    HexSymboliser,
    MemoryAccount,
    MemoryCode,
    MemorySampler,
    MemoryTargets,
)

TARGET = ProfileTarget("pid", "7")
REQUEST = ProfileRequest(id="p1", target=TARGET, seconds=10, hz=50)
ROWS = (RawRow(7, (0x20, 0x10), (), (0, 0), 400),)


class Made:
    def __init__(self) -> None:
        self.clock, self.symboliser = ManualClock(), HexSymboliser()
        self.phases: list[tuple[ProfilePhase, int]] = []
        account = MemoryAccount([100.0, 108.0])
        resolved = ResolvedTarget(TargetSelection("process", 7), (7,), account.cpu_seconds)
        self.making = ProfileMaking(
            MemoryTargets({TARGET: resolved}),
            MemorySampler({7: ROWS}),
            MemorySampler({7: ROWS}),
            MemoryCode({7: (0x10, 0x30)}),
            self.symboliser,
            MemoryHeaps(HeapReading(b"heap", 5, ("a note",), 4.0)),
            fake_process(clock=self.clock),
            node="n1",
            bounds=Bounds(seconds=60, hz=199),
        )

    def enter(self, phase: ProfilePhase, recorded: int) -> None:
        self.phases.append((phase, recorded))


async def test_what_is_sampled_comes_to_its_phases_with_what_there_is() -> None:
    made = Made()
    async with asyncio.TaskGroup() as group:
        making = group.create_task(made.making.make(REQUEST, made.enter))
        await made.clock.until_sleeping()
        await made.clock.advance(10)
    outcome = await making
    assert made.phases == [("sampling", 0), ("symbolising", 400)]
    assert (outcome.state, outcome.recorded, outcome.cpu_seconds) == ("done", 400, 8.0)
    assert outcome.pprof == b"0x10;0x20 400\n"


async def test_a_heap_is_read_at_once_and_has_no_phases() -> None:
    made = Made()
    outcome = await made.making.make(replace(REQUEST, measure="heap"), made.enter)
    assert (outcome.pprof, outcome.recorded, outcome.notes) == (b"heap", 5, ("a note",))
    assert made.phases == []


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (replace(REQUEST, seconds=61), "request"),
        (replace(REQUEST, hz=200), "request"),
        (replace(REQUEST, target=ProfileTarget("pid", "8")), "gone"),
    ],
)
async def test_what_cannot_be_made_is_refused_before_anything_is_sampled(
    request_: ProfileRequest, reason: str
) -> None:
    made = Made()
    with pytest.raises(ProfileRefused) as refused:
        await made.making.make(request_, made.enter)
    assert refused.value.reason == reason
    assert made.phases == []
