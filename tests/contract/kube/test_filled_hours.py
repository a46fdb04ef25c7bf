"""Hours that are filled for a new policy, as a brain puts that together from its settings."""

import asyncio
import time
from pathlib import Path

import pytest
from nemutator_common.system_clock import SystemClock
from nemutator_controller.app.context import BrainContext
from nemutator_controller.app.hourly import hourly_requests, hours_filling_part
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.settings.brain import BrainSettings
from nemutator_controller.sizing.sources.queries import CPU_TOTAL, WORKING_SET

from tests.contract.in_cluster.watched_cluster import watched
from tests.contract.kube.waiting import until
from tests.contract.prometheus.test_usage import KEY, SHOP, written
from tests.fakes.databases import opened
from tests.fakes.process import fake_process
from tests.fakes.prometheus import FakePrometheus

HOURS = 5


async def test_a_prometheus_of_the_settings_fills_the_hours_that_a_policy_wants(
    tmp_path: Path,
) -> None:
    process, fake = fake_process(clock=SystemClock()), FakePrometheus()
    async with fake.serving(), watched(tmp_path) as (_, cluster):
        now = time.time() // 60 * 60
        of_minutes = [(now - 60 * number, 1e5 - 30.0 * number) for number in range(60 * HOURS)]
        await written(fake.url, CPU_TOTAL, of_minutes[::-1], namespace=SHOP)
        # By this it is asked which namespaces there are.
        bytes_used = [(at, 1e8) for at, _ in of_minutes[::-1]]
        await written(fake.url, WORKING_SET, bytes_used, namespace=SHOP)
        with opened(tmp_path / "x.db") as database:
            settings = BrainSettings(prometheus=fake.url)
            context = BrainContext(
                settings=settings, process=process, database=database, cluster=cluster
            )
            requests = hourly_requests(context, UsageHistory(lambda _, __: KEY, most=10))
            requests.want([KEY])
            await requests.step()
            [task] = hours_filling_part(context, requests).tasks
            assert (task.name, task.alone) == ("fill hours from Prometheus", True)

            async def known() -> bool:
                await requests.step()
                made = requests.of(KEY)
                return made is not None and made.reason.startswith(
                    # The first one is known if the clock has it begin in its first half.
                    (f"it is known for {HOURS - 1} of", f"it is known for {HOURS} of")
                )

            async with asyncio.TaskGroup() as tasks:
                running = tasks.create_task(task.run())
                await until(known, "the hours that Prometheus has are known")
                running.cancel()


@pytest.mark.parametrize(
    "settings",
    [
        BrainSettings(),
        BrainSettings(
            prometheus="http://127.0.0.1:1", prometheus_warm_days=0, prometheus_usage=True
        ),
    ],
)
async def test_nothing_is_filled_where_nobody_is_to_be_asked_for_days(
    settings: BrainSettings, tmp_path: Path
) -> None:
    process = fake_process(clock=SystemClock())
    async with watched(tmp_path) as (_, cluster):
        with opened(tmp_path / "x.db") as database:
            context = BrainContext(
                settings=settings, process=process, database=database, cluster=cluster
            )
            requests = hourly_requests(context, UsageHistory(lambda _, __: KEY, most=10))
            assert not hours_filling_part(context, requests).tasks
