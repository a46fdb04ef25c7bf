"""What there is spare CPU for is published, and the base while nobody knows."""

import math
from typing import Any

from nemutator_common import names
from nemutator_controller.scaling.records import SpareCpu
from nemutator_controller.scaling.sharing import EVERY_S, SpareSharing

from tests.fakes.engines import in_background
from tests.fakes.scaling import FixedSpare, Raised, autoscaler

ROOM = SpareCpu(allocatable=20_000, requested=8_000)


async def sharing(**more: Any) -> tuple[Raised, FixedSpare, SpareSharing]:
    given = Raised()
    given.scalers.specs = {"web": {"target": "web", "opportunistic": {}, **more}}
    await given.raising.round()
    spare = FixedSpare(ROOM)
    return (
        given,
        spare,
        SpareSharing(given.scalers, given.raising, spare, given.process, reserve_percent=15),
    )


def published(given: Raised) -> float:
    return given.meter.value(names.OPPORTUNISTIC_REPLICAS, namespace="shop", scaler="web")


async def test_replicas_for_which_there_is_room_are_published() -> None:
    given, spare, shared = await sharing()
    async with in_background(shared.run(), given.clock):
        await given.clock.advance(EVERY_S + 1)
        assert published(given) == 10
    # It does not lead any more, and says nothing instead of what was so once.
    assert math.isnan(published(given))
    # Fifteen of a hundred are kept, six are others', and the base is two: one core is left.
    spare.said = SpareCpu(allocatable=20_000, requested=16_000)
    await shared.round()
    assert published(given) == 3
    assert given.meter.value(names.SPARE_CPU) == 1


async def test_while_nobody_knows_it_is_the_base() -> None:
    given, spare, shared = await sharing(minReplicas=3)
    spare.said = None
    await shared.round()
    assert published(given) == 3
    assert math.isnan(given.meter.value(names.SPARE_CPU))


async def test_a_bound_of_the_scaler_holds() -> None:
    given, _, shared = await sharing(maxReplicas=4)
    await shared.round()
    assert published(given) == 4


async def test_of_what_is_gone_there_is_no_number() -> None:
    given, _, shared = await sharing()
    await shared.round()
    given.scalers.specs = {}
    await shared.round()
    assert math.isnan(published(given))
    assert shared.replicas == {}


async def test_pods_without_a_request_have_their_base() -> None:
    given, _, shared = await sharing()
    given.autoscalers.put(autoscaler(request_millis=None))
    await given.raising.round()
    await shared.round()
    assert published(given) == 2
