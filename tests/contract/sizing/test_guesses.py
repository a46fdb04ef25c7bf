"""What people are shown of a workload that is new, and what admission is not."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from typing import Any

import aiohttp
from aiohttp import web
from nemutator_common.wire import Summary
from nemutator_controller.sizing.endpoint import AdviceApi
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.usages import Usages

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.sizing import NOTHING_GROWS, FixedRequests, learn

NOW = 1_700_000_000.0
HOUR_S = 3_600.0


class SameImage:
    def of_each(self, keys: Sequence[ContainerKey]) -> list[str]:
        return ["registry/cart"] * len(keys)


def key(namespace: str) -> ContainerKey:
    return ContainerKey(namespace, "Deployment", "cart", "app")


def summary(to_at: float, span_s: float) -> Summary:
    return Summary(
        path=f"/kubepods/{to_at}",
        pod_uid="u1",
        container_id="c1",
        from_at=to_at - span_s,
        to_at=to_at,
        cpu_cores=0.2,
        memory_bytes=300_000_000,
    )


@contextlib.asynccontextmanager
async def served() -> AsyncIterator[tuple[str, str]]:
    """Addresses of what people and admission ask."""
    usages = Usages(most=9)
    old = [(key("old"), summary(NOW - n * HOUR_S / 2, HOUR_S / 2)) for n in range(120)]
    new = [(key("new"), summary(NOW - n * 15, 15)) for n in range(3)]
    learn(usages, [*reversed(old), *reversed(new)], now=NOW)
    process = fake_process(clock=ManualClock(NOW))
    api = AdviceApi(usages, FixedRequests({}), NOTHING_GROWS, process, images=SameImage())
    application = web.Application()
    people, admission = api.routes()[0], api.uplink_routes()[0]
    application.add_routes([people.route, admission.route])
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        at = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield f"{at}{people.route.path}", f"{at}{admission.route.path}"
    finally:
        await runner.cleanup()


async def asked(url: str) -> dict[str, Any]:
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        assert answer.status == 200
        return {one["namespace"]: one for one in (await answer.json())["items"]}


async def test_people_are_shown_a_guess_and_admission_is_not() -> None:
    async with served() as (people, admission):
        shown, told = await asked(people), await asked(admission)
    assert shown["new"]["requests"] == shown["old"]["requests"]
    assert shown["new"]["limits"] == {"cpu": None, "memory": None}
    assert shown["new"]["reason"].startswith(
        "a guess by another workload of the image registry/cart"
    )
    assert (shown["old"]["state"], shown["new"]["state"]) == ("firm", "provisional")
    assert (told["new"]["state"], told["new"]["requests"]["cpu"]) == ("not_yet", None)


async def test_nothing_is_guessed_by_what_was_not_asked_for() -> None:
    async with served() as (people, _):
        shown = await asked(f"{people}?namespace=new")
    assert (shown["new"]["state"], shown["new"]["requests"]["cpu"]) == ("not_yet", None)
