"""The fleet of a soak: hollow, and it never rests."""

import asyncio
import contextlib
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

import psutil
import uvloop
from nemutator_common.system_clock import SystemClock

from tests.bench.hollow import reached
from tests.hollow.fleet import Fleet
from tests.hollow.plan import Plan
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.waiting import until

WELL_S = 600.0
FLEET = Plan(name="soak", nodes=20, pods=400, namespaces=4)


@dataclass(slots=True)
class Hollow:
    """A fleet in a thread of its own, whose pods end and are replaced at a rate."""

    cluster: Cluster
    per_s: float
    fleet: Fleet | None = None
    churns: threading.Event = field(default_factory=threading.Event)
    _loop: asyncio.AbstractEventLoop | None = None
    _task: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def running(self) -> Iterator["Hollow"]:
        thread = threading.Thread(target=self._run, daemon=True)
        thread.start()
        assert self.churns.wait(WELL_S), "the fleet was never there"
        try:
            yield self
        finally:
            if self._loop is not None and self._task is not None and thread.is_alive():
                self._loop.call_soon_threadsafe(self._task.cancel)
            thread.join()

    @property
    def made(self) -> int:
        assert self.fleet is not None
        return self.fleet.churning.replaced

    def _run(self) -> None:
        runner = asyncio.Runner(loop_factory=uvloop.new_event_loop)
        with runner, contextlib.suppress(asyncio.CancelledError):
            runner.run(self._live())

    async def _live(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        try:
            async with reached(self.cluster) as transport:
                self.fleet = Fleet(FLEET, transport, SystemClock(), roll=random.random)
                await self.fleet.populating.all()
                self.churns.set()
                async with asyncio.TaskGroup() as group:
                    group.create_task(self.fleet.heartbeats.run())
                    group.create_task(self.fleet.churning.run(per_s=self.per_s))
        finally:
            # A connection to an API server that was killed waits for the end of its TLS, and a loop is not closed under it.
            gone = partial(until, lambda: not _connections(self.cluster), "the fleet has hung up")
            await asyncio.to_thread(gone, within_s=WELL_S)


def _connections(cluster: Cluster) -> int:
    """Those of this process to its API server."""
    port = urlsplit(cluster.url).port
    every = psutil.Process().net_connections("tcp")
    return sum(bool(each.raddr) and each.raddr.port == port for each in every)
