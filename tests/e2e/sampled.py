"""What was recorded of a process, beside the CPU time that it has used."""

import asyncio
from dataclasses import dataclass

from nemutator_agent.profiler.bpf_maps import Samples
from nemutator_agent.profiler.cpu_time import spent
from nemutator_agent.profiler.kernel_sampling import KernelSampler
from nemutator_agent.profiler.targets import ResolvedTarget

from tests.contract.profiler.busy import until_used

HZ = 99


@dataclass(frozen=True)
class Found:
    samples: Samples
    cpu_seconds: float | None

    @property
    def ratio(self) -> float:
        assert self.cpu_seconds
        return (self.samples.recorded + sum(self.samples.lost.values())) / HZ / self.cpu_seconds


async def sampled(
    resolved: ResolvedTarget, *, pid: int, seconds: float, sampler: KernelSampler | None = None
) -> Found:
    """Until *pid* has used so many *seconds* of CPU time."""
    sampler = sampler or KernelSampler()
    sampling = await sampler.start(resolved.selection, hz=HZ, texts={})
    before = resolved.cpu_seconds()
    await asyncio.to_thread(until_used, pid, seconds)
    used = spent(before, resolved.cpu_seconds())
    found = Found(await sampling.stop(), used)
    print(
        f"recorded={found.samples.recorded} lost={found.samples.lost} "
        f"rows={len(found.samples.rows)} cpu_seconds={found.cpu_seconds}"
    )
    return found
