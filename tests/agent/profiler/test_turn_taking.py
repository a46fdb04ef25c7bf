import asyncio

import pytest
from nemutator_agent.profiler.raw import RawRow
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.targets import TargetSelection
from nemutator_agent.profiler.turn_taking import SamplingTurns

from tests.fakes.samplers import MemorySampler

TARGET = TargetSelection("process", 7)


def turns() -> tuple[SamplingTurns, MemorySampler]:
    sampler = MemorySampler({7: [RawRow(7, (0x10,), (), (0, 0), 50)]})
    return SamplingTurns(sampler), sampler


async def test_what_is_asked_for_waits_until_the_other_has_ended_and_says_that_it_waits() -> None:
    shared, sampler = turns()
    unasked = await shared.start_unasked(TARGET, hz=49, texts={})
    assert unasked is not None
    assert not shared.is_wanted
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(shared.start(TARGET, hz=99, texts={7: (1, 2)}))
        await shared.until_wanted()
        assert len(sampler.started) == 1
        assert (await unasked.stop()).recorded == 50
        await unasked.discard()
    assert sampler.started[1] == (TARGET, 99, {7: (1, 2)})
    assert shared.is_wanted
    sampling = await asked
    assert (await sampling.stop()).recorded == 50
    await sampling.discard()
    assert not shared.is_wanted


async def test_nothing_unasked_begins_beside_what_is_asked_for() -> None:
    shared, _ = turns()
    sampling = await shared.start(TARGET, hz=99, texts={})
    assert await shared.start_unasked(TARGET, hz=49, texts={}) is None
    await sampling.discard()
    assert await shared.start_unasked(TARGET, hz=49, texts={}) is not None
    assert await shared.start_unasked(TARGET, hz=49, texts={}) is None


async def test_a_refusal_gives_the_turn_back() -> None:
    shared, sampler = turns()
    sampler.refusal = ProfileRefused("rights", "not root", remedy="be root")
    with pytest.raises(ProfileRefused):
        await shared.start(TARGET, hz=99, texts={})
    assert not shared.is_wanted
    with pytest.raises(ProfileRefused):
        await shared.start_unasked(TARGET, hz=99, texts={})
    sampler.refusal = None
    assert await shared.start_unasked(TARGET, hz=99, texts={}) is not None


async def test_whoever_gives_up_waiting_does_not_hold_up_the_others() -> None:
    shared, sampler = turns()
    unasked = await shared.start_unasked(TARGET, hz=49, texts={})
    assert unasked is not None
    async with asyncio.TaskGroup() as tasks:
        asked = tasks.create_task(shared.start(TARGET, hz=99, texts={}))
        await shared.until_wanted()
        asked.cancel()
    assert not shared.is_wanted
    await unasked.discard()
    await (await shared.start(TARGET, hz=99, texts={})).discard()
    assert len(sampler.started) == 2
