"""Limits, quotas and nodes are kept in memory, and what is not known bounds nothing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from nemutator_controller.admission.bounds_watching import WatchedBounds
from nemutator_controller.kube.calls import Call
from nemutator_controller.kube.failures import ForbiddenError, InvalidError
from nemutator_controller.kube.informing import Informer
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.kube.resources import LIMIT_RANGES, NODES, RESOURCE_QUOTAS
from nemutator_controller.mutations.resource_bounds import Range, Room

from tests.fakes.clocks import ManualClock
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport

NO_WATCH_LIST = InvalidError("watch", "sendInitialEvents is forbidden")


def listed(*items: tuple[str, str, dict[str, Any]]) -> bytes:
    found = [
        {"metadata": {"name": name, "namespace": namespace, "resourceVersion": "1"}, **more}
        for name, namespace, more in items
    ]
    return msgspec.json.encode(
        {"kind": "List", "metadata": {"resourceVersion": "9"}, "items": found}
    )


LIMITS = listed(("l", "shop", {"spec": {"limits": [{"type": "Container", "max": {"cpu": "2"}}]}}))
QUOTAS = listed(("q", "shop", {"status": {"hard": {"cpu": "4"}, "used": {"cpu": "1"}}}))
SIZES = listed(("n", "", {"status": {"allocatable": {"cpu": "8"}}}))


class Play:
    def __init__(self, *scripts: Said) -> None:
        self.clock = ManualClock()
        eager = fake_process(clock=EagerClock())
        self.transports = [ScriptedTransport(NO_WATCH_LIST, said) for said in scripts]
        limits, quotas, nodes = self.transports
        indexes = {"namespace": lambda found: (found.metadata.namespace,)}
        self.bounds = WatchedBounds(
            Informer(LIMIT_RANGES, transport=limits, process=eager, indexes=indexes),
            Informer(RESOURCE_QUOTAS, transport=quotas, process=eager, indexes=indexes),
            Informer(NODES, transport=nodes, process=eager),
            fake_process(clock=self.clock),
        )

    @contextlib.asynccontextmanager
    async def played(self) -> AsyncIterator[None]:
        """After the scripts."""
        async with asyncio.timeout(60), asyncio.TaskGroup() as group:
            tasks = [group.create_task(run()) for run in self.bounds.tasks().values()]
            for transport in self.transports:
                await transport.over.wait()
            yield
            for task in tasks:
                task.cancel()


async def test_bounds_are_those_of_the_namespace() -> None:
    play = Play(LIMITS, QUOTAS, SIZES)
    assert not play.bounds.of("shop")
    moment = play.bounds.moment()
    async with play.played():
        for informer in (play.bounds.limit_ranges, play.bounds.quotas):
            await informer.synced()
        await play.clock.until_sleeping()
        shop, other = play.bounds.of("shop"), play.bounds.of("other")
        # Three lists, of which two have one object and are complete, and what the nodes allow.
        assert play.bounds.moment() == moment + 5
    assert shop.ranges == (Range("LimitRange l", "container", "cpu", most=parse_quantity("2")),)
    assert shop.rooms == (Room("ResourceQuota q", "requests", "cpu", parse_quantity("3")),)
    assert shop.largest == other.largest == {"cpu": parse_quantity("8")}
    assert (other.ranges, other.rooms) == ((), ())


async def test_what_may_not_be_read_bounds_nothing() -> None:
    refused = ForbiddenError("list", "forbidden to us")
    play = Play(refused, QUOTAS, refused)
    async with play.played():
        await play.bounds.quotas.synced()
        shop = play.bounds.of("shop")
    assert (shop.ranges, len(shop.rooms), shop.largest) == ((), 1, {})


async def test_bounds_are_made_once_until_something_of_them_changes() -> None:
    more = {"type": "MODIFIED", "object": msgspec.json.decode(QUOTAS)["items"][0]}
    more["object"]["metadata"]["resourceVersion"] = "10"
    more["object"]["status"]["used"] = {"cpu": "2"}
    play, arrived = Play(LIMITS, QUOTAS, SIZES), asyncio.Event()
    quotas = play.transports[1]
    play.bounds.quotas = Informer(
        RESOURCE_QUOTAS,
        transport=Watched(quotas, arrived, msgspec.json.encode(more) + b"\n"),
        process=fake_process(clock=EagerClock()),
        indexes={"namespace": lambda found: (found.metadata.namespace,)},
    )
    async with play.played():
        for informer in (play.bounds.limit_ranges, play.bounds.quotas):
            await informer.synced()
        await play.clock.until_sleeping()
        first = play.bounds.of("shop")
        assert play.bounds.of("shop") is first
        moment = play.bounds.moment()
        assert play.bounds.of("other").rooms == ()
        with play.bounds.quotas.subscribe("test") as changes:
            await changes.next()
            arrived.set()
            await changes.next()
        assert play.bounds.moment() == moment + 1
        now = play.bounds.of("shop")
        assert now.rooms == (Room("ResourceQuota q", "requests", "cpu", parse_quantity("2")),)
        assert (now.ranges, now.largest) == (first.ranges, first.largest)


class Watched:
    """A transport whose watch says *event* once it has *arrived*."""

    def __init__(self, inner: ScriptedTransport, arrived: asyncio.Event, event: bytes) -> None:
        self._inner, self._arrived, self._event = inner, arrived, event

    async def send(self, call: Call) -> bytes:
        return await self._inner.send(call)

    @contextlib.asynccontextmanager
    async def stream(self, call: Call, *, idle_s: float) -> AsyncIterator[AsyncIterator[bytes]]:
        async with self._inner.stream(call, idle_s=idle_s) as answer:
            # Before that it has been asked to list by a watch, and has listed.
            yield self._said() if len(self._inner.calls) == 2 else answer

    async def _said(self) -> AsyncIterator[bytes]:
        self._inner.over.set()
        await self._arrived.wait()
        yield self._event
        await asyncio.Event().wait()
