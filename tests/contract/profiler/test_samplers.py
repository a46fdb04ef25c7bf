"""What a `Sampler` promises, held on the fake and on the kernel, by each of the engines.

bcc needs its package and headers of the kernel that runs. CI has neither, so its part is a drill: in a
machine that has both (`tests/drill/machine/test_bcc.py`), or by `pytest -m drill` on one of yours.
"""

import asyncio
import contextlib
import os
from collections.abc import Iterator

import pytest
from nemutator_agent.profiler import bcc
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.ports import Sampler
from nemutator_agent.profiler.raw import RawRow
from nemutator_agent.profiler.requirements import EngineChoice
from nemutator_agent.profiler.targets import TargetSelection

from tests.contract.profiler.busy import busy, until_used
from tests.fakes.samplers import MemorySampler


class FakePlace:
    pid = 7

    def __init__(self) -> None:
        self.sampler: Sampler = MemorySampler({7: [RawRow(7, (0x10,), (), (0, 0), 50)]})

    def until_used(self, seconds: float) -> None:
        """Nothing there takes time."""


class KernelPlace:
    def __init__(self, pid: int, engine: EngineChoice) -> None:
        self.pid = pid
        self.sampler: Sampler = KernelSampler(engine=engine)

    def until_used(self, seconds: float) -> None:
        until_used(self.pid, seconds)


Place = FakePlace | KernelPlace


@contextlib.contextmanager
def kernel(engine: EngineChoice) -> Iterator[KernelPlace]:
    with busy() as pid:
        yield KernelPlace(pid, engine)


@pytest.fixture(
    params=[
        "fake",
        pytest.param("libbpf", marks=pytest.mark.e2e),
        pytest.param("bcc", marks=pytest.mark.drill),
    ]
)
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    if request.param == "fake":
        yield FakePlace()
        return
    if request.param == "bcc" and not (bcc.is_installed() and bcc.has_headers(os.uname().release)):
        pytest.skip("needs python3-bpfcc, and headers of the kernel that runs")
    with kernel(request.param) as real:
        yield real


async def test_a_busy_process_is_seen_and_every_sample_is_in_a_row(place: Place) -> None:
    sampling = await place.sampler.start(TargetSelection("process", place.pid), hz=99, texts={})
    await asyncio.to_thread(place.until_used, 0.5)
    samples = await sampling.stop()
    assert samples.recorded > 20
    assert samples.recorded == sum(row.count for row in samples.rows)
    assert {row.tgid for row in samples.rows} == {place.pid}
    assert all(row.user or row.kernel for row in samples.rows)
    assert all(row.count > 0 for row in samples.rows)
    assert all(count > 0 for count in samples.lost.values())


async def test_its_programs_are_told_meanwhile_and_no_sample_is_lost_for_it(place: Place) -> None:
    sampling = await place.sampler.start(TargetSelection("process", place.pid), hz=199, texts={})
    seen = set[int]()
    for _ in range(3):
        await asyncio.to_thread(place.until_used, 0.1)
        seen |= {program.task[0] for program in await sampling.drain()}
        await sampling.add_text(place.pid, (1, 2))
    samples = await sampling.stop()
    assert seen == {place.pid}
    assert samples.recorded > 20
    assert samples.recorded == sum(row.count for row in samples.rows)
    assert len(set(samples.rows)) == len(samples.rows)
    with pytest.raises(RuntimeError, match="stopped already"):
        await sampling.drain()


async def test_who_is_not_there_is_not_seen(place: Place) -> None:
    sampling = await place.sampler.start(TargetSelection("process", 0x7FFFFFF0), hz=99, texts={})
    await asyncio.to_thread(place.until_used, 0.2)
    samples = await sampling.stop()
    assert (samples.rows, samples.recorded, samples.lost) == ((), 0, {})


async def test_one_session_comes_after_the_other(place: Place) -> None:
    for _ in range(3):
        sampling = await place.sampler.start(
            TargetSelection("process", place.pid), hz=199, texts={}
        )
        await asyncio.to_thread(place.until_used, 0.2)
        assert (await sampling.stop()).recorded
        await sampling.discard()


async def test_what_is_discarded_is_ended(place: Place) -> None:
    sampling = await place.sampler.start(TargetSelection("process", place.pid), hz=99, texts={})
    await sampling.discard()
    await sampling.discard()
    again = await place.sampler.start(TargetSelection("process", place.pid), hz=99, texts={})
    await again.discard()


async def test_it_is_stopped_once(place: Place) -> None:
    sampling = await place.sampler.start(TargetSelection("process", place.pid), hz=99, texts={})
    await sampling.stop()
    with pytest.raises(RuntimeError, match="stopped already"):
        await sampling.stop()


async def test_it_may_be_discarded_by_whoever_gave_up_to_stop_it(place: Place) -> None:
    for _ in range(5):
        sampling = await place.sampler.start(
            TargetSelection("process", place.pid), hz=199, texts={}
        )
        await asyncio.to_thread(place.until_used, 0.05)
        async with asyncio.TaskGroup() as group:
            stopping = group.create_task(sampling.stop())
            # It has begun, and goes on in its thread.
            await asyncio.sleep(0)
            stopping.cancel()
            await sampling.discard()
