from collections.abc import AsyncIterator, Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.hours_reading import HoursReading
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.recorded_steps import PodContainer, RecordedSteps

BEGIN = 472_000
WEB = ContainerKey("shop", "StatefulSet", "web", "app")
GONE = ContainerKey("shop", "StatefulSet", "gone", "app")


@dataclass
class Recorded:
    """A `UsageSource` of two pods of one container and another one, in parts of an hour."""

    dropped: Mapping[str, int] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    asked: list[object] = field(default_factory=list)

    async def steps(
        self, *, begin: float, end: float, namespaces: Collection[str] | None = None
    ) -> AsyncIterator[RecordedSteps]:
        self.asked.append((begin, end, namespaces))
        for at in range(int(begin), int(end), 3_600):
            first, second = np.full(12, 0.25), np.full(12, np.nan)
            second[3] = 1.5
            first[7] = np.nan
            rows = {
                PodContainer("shop", "web-0", "app"): first,
                PodContainer("shop", "web-1", "app"): second,
                PodContainer("shop", "other-0", "app"): np.full(12, 9.0),
            }
            yield RecordedSteps(float(at), 300, 12, rows, {})


async def test_of_several_pods_the_busiest_counts_and_of_others_nothing() -> None:
    source = Recorded()
    reading = HoursReading(source, NamedOwners())
    found = await reading.hours([WEB, GONE], begin=BEGIN, end=BEGIN + 2)
    hour = np.full(12, 0.25)
    hour[3], hour[7] = 1.5, np.nan
    assert found.keys() == {WEB}
    np.testing.assert_array_equal(found[WEB], [hour, hour])
    assert source.asked == [(BEGIN * 3_600, (BEGIN + 2) * 3_600, {"shop"})]
    source.dropped = {"absurd": 3}
    assert reading.dropped == {"absurd": 3}
