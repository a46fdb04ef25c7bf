"""Eight days that somebody has recorded, read in one pass by a new brain: from a real VictoriaMetrics, which takes samples of any day."""

import time

import numpy as np
import pytest
from nemutator_common import names
from nemutator_controller.history.remote_write_http import HttpRemoteWrite
from nemutator_controller.history.remote_write_messages import body, labels, series
from nemutator_controller.prometheus_http import PrometheusHttp
from nemutator_controller.sizing.hourly.filling import HoursFilling
from nemutator_controller.sizing.hourly.points import PER_HOUR
from nemutator_controller.sizing.hourly.stepping import HourlyRequests
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.hours_reading import HoursReading
from nemutator_controller.sizing.sources.named_owners import NamedOwners
from nemutator_controller.sizing.sources.prometheus_reading import PrometheusReading
from nemutator_controller.sizing.sources.queries import CPU_TOTAL, WORKING_SET
from nemutator_controller.sizing.sources.source_learning import SourceLearning
from nemutator_controller.sizing.usages import Usages

from tests.contract.prometheus.test_queries import WallClock
from tests.fakes.hourly import ComputedAtOnce, MemoryHourlyStore, MemoryUsedLately
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.testbed.parts.victoria_metrics import VictoriaMetrics

pytestmark = pytest.mark.e2e

DAYS, DAY_S, SCRAPED_S = 8, 86_400, 60
WEB = ContainerKey("weeks", "StatefulSet", "web", "app")
PODS = {"web-0": 0.5, "web-1": 0.1}
"""Cores by day; a third of them by night."""
AT_ONCE = 3_000
"""Samples in one body."""


@pytest.fixture(scope="module")
def recorded_until() -> float:
    return time.time() // SCRAPED_S * SCRAPED_S


@pytest.fixture
async def weeks(victoria_metrics: VictoriaMetrics, recorded_until: float) -> VictoriaMetrics:
    """Written again for each test: two samples that are the same are one."""
    moments = recorded_until - SCRAPED_S * np.arange(DAYS * DAY_S // SCRAPED_S, -1, -1)
    by_day = (moments // 3_600 % 24 >= 8) & (moments // 3_600 % 24 < 18)
    written = []
    for pod, cores in PODS.items():
        of = {"namespace": WEB.namespace, "pod": pod, "container": WEB.container}
        used = np.cumsum(np.where(by_day, cores, cores / 3) * SCRAPED_S)
        for name, values in ((CPU_TOTAL, used), (WORKING_SET, np.full(len(moments), 2e8))):
            text = labels({"__name__": name, **of})
            written += [
                series(text, float(value), round(at * 1_000))
                for at, value in zip(moments, values, strict=True)
            ]
    receiver = HttpRemoteWrite(url=f"{victoria_metrics.url}/api/v1/write")
    for begin in range(0, len(written), AT_ONCE):
        await receiver.write(body(written[begin : begin + AT_ONCE]))
    victoria_metrics.show_all()
    return victoria_metrics


def reading(there: VictoriaMetrics) -> PrometheusReading:
    return PrometheusReading(PrometheusHttp(url=there.url, clock=WallClock()), NamedOwners())


async def test_a_new_brain_begins_with_eight_days(weeks: VictoriaMetrics) -> None:
    usages, meter, owners = Usages(most=100), MemoryMeter(), NamedOwners()
    process = fake_process(clock=WallClock(), meter=meter)
    learning = SourceLearning(
        reading(weeks),
        owners,
        usages,
        process,
        lambda: True,
        lambda: 0,
        warm_days=DAYS,
        follows=False,
        step_s=300,
    )
    await learning.warm()
    [seen] = usages.seen([WEB], now=time.time())
    assert 0.98 <= seen.points / (len(PODS) * DAYS * 288) <= 1
    assert seen.observed_s > 7.9 * DAY_S
    assert 0.5 <= seen.cpu_p95 <= 0.53
    assert meter.value(names.SOURCE_READS, result="answered") == DAYS


async def test_a_policy_that_is_new_follows_the_hour_at_once(weeks: VictoriaMetrics) -> None:
    process = fake_process(clock=WallClock(), meter=MemoryMeter())
    nothing = MemoryUsedLately(0, np.empty((0, PER_HOUR)))
    requests = HourlyRequests(nothing, MemoryHourlyStore(), ComputedAtOnce(), process)
    source = HoursReading(reading(weeks), NamedOwners())
    filling = HoursFilling(requests, source, process, lambda: True, days=DAYS)
    requests.want([WEB])
    await requests.step()
    waits = requests.of(WEB)
    assert waits is not None
    assert waits.millis is None
    assert await filling.fill()
    await requests.step()
    found = requests.of(WEB)
    assert found is not None
    assert found.millis is not None, found.reason
    # The busiest pod, and not both together or on average.
    assert 100 <= found.millis <= 900
