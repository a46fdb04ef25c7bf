import asyncio
import time

from nemutator_common.system_clock import SystemClock
from nemutator_controller.sizing.all_advice import AT_ONCE, gather_advice
from nemutator_controller.sizing.keys import ContainerKey, Requested
from nemutator_controller.sizing.usages import Usages

from tests.controller.sizing.test_usages import NOW, key, summary
from tests.fakes.sizing import NOTHING_GROWS, FixedRequests, learn

CLOCK = SystemClock()
NOBODY = FixedRequests({})
OTHER = ContainerKey("other", "Deployment", "a", "app")


def usages(*keys: ContainerKey, points: int = 9) -> Usages:
    made = Usages(most=6_000)
    for n in range(points):
        learn(made, [(one, summary(NOW + n)) for one in keys], now=NOW)
    return made


async def test_a_namespace_shows_its_own_only_beside_what_is_asked_for() -> None:
    both, asked = usages(key("cart"), OTHER), FixedRequests({OTHER: Requested(500, None)})
    found = await gather_advice(both, asked, growing=NOTHING_GROWS, clock=CLOCK, namespace="other")
    assert [(one.namespace, one.requests_now.cpu) for one in found.items] == [("other", "500m")]
    assert len((await gather_advice(both, asked, growing=NOTHING_GROWS, clock=CLOCK)).items) == 2


async def test_of_many_none_is_missing_and_others_get_their_turn_meanwhile() -> None:
    many = usages(*(key(f"o{n:04}") for n in range(5 * AT_ONCE + 1)), points=1)
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(other())
        found = await gather_advice(many, NOBODY, growing=NOTHING_GROWS, clock=CLOCK)
        task.cancel()
    assert [one.owner for one in found.items] == [one.owner for one in many.keys()]  # noqa: SIM118
    assert turns > 5


async def test_its_tag_changes_with_a_decision_and_not_with_a_point() -> None:
    known = usages(key())
    tag = (await gather_advice(known, NOBODY, growing=NOTHING_GROWS, clock=CLOCK)).tag
    learn(known, [(key(), summary())], now=NOW)
    assert (await gather_advice(known, NOBODY, growing=NOTHING_GROWS, clock=CLOCK)).tag == tag
    learn(known, [(key(), summary(time.time(), memory_bytes=10**9))], now=NOW)
    assert (await gather_advice(known, NOBODY, growing=NOTHING_GROWS, clock=CLOCK)).tag != tag
    assert (await gather_advice(usages(), NOBODY, growing=NOTHING_GROWS, clock=CLOCK)).tag not in (
        "",
        tag,
    )
