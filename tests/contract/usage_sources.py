"""What every source of recorded use has to be: one suite, for whoever has recorded half a core and a peak of 300 MB of
one container, in the last hour."""

import math
import time

from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.recorded_steps import RecordedSteps
from nemutator_controller.sizing.sources.source_samples import samples_of
from nemutator_controller.sizing.usages import Usages
from nemutator_ctl.advise.from_records import ReadUsage


async def tells_half_a_core_and_a_peak(source: ReadUsage, key: ContainerKey) -> None:
    usages, now = Usages(most=10), time.time()
    parts: list[RecordedSteps] = []
    async for steps in source.steps(begin=now - 3_600, end=now):
        parts.append(steps)
        found = samples_of(steps, source.owners, now=now, before=lambda _: math.inf)
        usages.learn(found.samples, now=now)
    assert [one.begin for one in parts] == sorted(one.begin for one in parts)
    # A step is told once.
    assert sum(one.count for one in parts) <= 12
    (seen,) = usages.seen(usages.keys(), now=now)
    assert seen.key == key
    assert seen.points >= 8
    assert 0.4 <= seen.cpu_p50 <= 0.66
    assert seen.memory_max == 300_000_000
    assert (await source.requested())[key].cpu_millis == 2_000
