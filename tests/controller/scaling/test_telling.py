"""The status of a ForecastScaler is written when it changes."""

import asyncio
from typing import Any

import msgspec
from nemutator_common import names
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.failures import ForbiddenError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.writing import Writer
from nemutator_controller.scaling.objects import FORECAST_SCALERS
from nemutator_controller.scaling.telling import CHECK_S, ScalerStatuses

from tests.controller.scaling.test_documents import STATE
from tests.controller.seasons.test_telling import NO_WATCH_LIST, listed
from tests.fakes.clocks import ManualClock
from tests.fakes.engines import in_background
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport


async def told(answer: Said, status: Any = None) -> tuple[MemoryMeter, list[Any], list[str]]:
    """The meter, the statuses that are written, and where to."""
    metadata = {"name": "web", "namespace": "shop", "uid": "u", "generation": 2}
    item = {"metadata": metadata, "spec": {}, "status": status or {}}
    reads, writes = ScriptedTransport(NO_WATCH_LIST, listed(item)), ScriptedTransport(answer)
    meter, clock = MemoryMeter(), ManualClock()
    informer = Informer(
        FORECAST_SCALERS, transport=reads, process=fake_process(clock=EagerClock(), meter=meter)
    )
    telling = ScalerStatuses(
        informer,
        Writer(writes, WriteBudget(EagerClock()), EagerClock()),
        lambda: {("shop", "web"): STATE},
        dict,
        dict,
        fake_process(meter=meter, clock=clock),
    )
    # Before anything is listed nothing is written.
    await telling.write()
    assert writes.calls == []
    async with asyncio.TaskGroup() as group:
        task = group.create_task(informer.run())
        await reads.over.wait()
        async with in_background(telling.run(), clock):
            await clock.advance(CHECK_S + 1)
        task.cancel()
    bodies = [msgspec.json.decode(call.body) for call in writes.calls]
    return meter, [body["status"] for body in bodies], [call.path for call in writes.calls]


async def test_what_is_in_force_is_written_once_to_the_object_in_its_namespace() -> None:
    meter, [status], [path] = await told(b"{}")
    assert path.endswith("/namespaces/shop/forecastscalers/web/status")
    assert (status["base"], status["minimum"], status["why"]) == (2, 6, "so")
    assert meter.value(names.SCALER_STATUSES, result="written") == 1
    _, nothing, _ = await told(b"{}", status)
    assert nothing == []


async def test_what_cannot_be_written_is_counted() -> None:
    meter, _, _ = await told(ForbiddenError("forecastscalers", "no"))
    assert meter.value(names.SCALER_STATUSES, result="failed") == 1
