"""Reads with whom pods exchange what: one pod at a time, twice, a minute apart, then the next.

It is off unless a setting turns it on. A pod with more sockets than are read has no flows, and a counted
reason: half of a table would name the wrong peers.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Literal, Protocol, TypeAlias

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import Missing
from nemutator_common.wire_activity import Flow

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.flows import SocketTable, flows_between, table
from nemutator_agent.usage.group_names import name_group
from nemutator_agent.usage.pod_networks import network_owner, oldest_members
from nemutator_agent.usage.snapshot import MachineSnapshot
from nemutator_agent.usage.sock_diag import TcpSocket

log = logging.getLogger(__name__)

WAIT_S = 5.0
"""For one reading, which has a shorter deadline of its own."""

MOST_FLOWS = 1_000
"""That wait for a report: an hour of them."""

NotRead: TypeAlias = Literal["denied", "ended", "many", "slow", "failed"]


class SocketsNotReadError(Exception):
    def __init__(self, reason: NotRead) -> None:
        super().__init__(reason)
        self.reason = reason


class SocketTables(Protocol):
    async def read(self, pid: int, started_ticks: int) -> Sequence[TcpSocket]:
        """The sockets in the network of that process; raises SocketsNotReadError."""
        ...


@dataclass(eq=False, slots=True)
class FlowReader:
    tables: SocketTables
    latest: Callable[[], MachineSnapshot | None]
    process: Process
    _: KW_ONLY
    in_thread: Callable[[Callable[[], tuple[Flow, ...]]], Awaitable[tuple[Flow, ...]]]
    every_s: float
    _flows: list[Flow] = field(default_factory=list, init=False)
    _last: str = field(default="", init=False)
    _denied: bool = field(default=False, init=False)

    async def run(self) -> None:
        while True:
            chosen = self._next()
            if chosen is None:
                await self.process.clock.sleep(self.every_s)
                continue
            pod_uid, member = chosen
            self._last = pod_uid
            before = await self._read(member)
            await self.process.clock.sleep(self.every_s)
            after = None if before is None else await self._read(member)
            if before is not None and after is not None:
                # Twenty thousand connections take longer than others should wait for the loop.
                found = await self.in_thread(partial(flows_between, before, after, pod_uid))
                self._keep(found)
                self.process.meter.count(names.FLOW_READINGS, result="done")

    def taken(self) -> tuple[Flow, ...]:
        """What was found since the last time; it is forgotten here."""
        flows, self._flows = tuple(self._flows), []
        return flows

    def missing(self) -> tuple[Missing, ...]:
        if not self._denied:
            return ()
        return (
            Missing(
                "with whom pods exchange what",
                "observe may not enter their networks",
                "give observe CAP_SYS_ADMIN, or set observe.flows to false",
            ),
        )

    def _keep(self, flows: tuple[Flow, ...]) -> None:
        over = max(len(self._flows) + len(flows) - MOST_FLOWS, 0)
        if over:
            self.process.meter.count(names.FLOWS_DROPPED, over, reason="full")
        self._flows = [*self._flows, *flows][-MOST_FLOWS:]

    def _next(self) -> tuple[str, ProcessId] | None:
        """The pod whose turn it is, in the order of uids."""
        pods = _pods(self.latest())
        if not pods:
            return None
        uid = min((one for one in pods if one > self._last), default=min(pods))
        return uid, pods[uid]

    async def _read(self, member: ProcessId) -> SocketTable | None:
        at = self.process.clock.now()
        try:
            async with asyncio.timeout(WAIT_S):
                sockets = await self.tables.read(member.pid, member.started_ticks)
        except SocketsNotReadError as error:
            reason = error.reason
        except TimeoutError:
            reason = "slow"
        else:
            self._denied = False
            return table(at, sockets)
        self._denied = reason == "denied"
        self.process.meter.count(names.FLOW_READINGS, result=reason)
        return None


def _pods(snapshot: MachineSnapshot | None) -> Mapping[str, ProcessId]:
    """The oldest process of each pod with a network of its own, by the pod's uid."""
    if snapshot is None:
        return {}
    owned = ((one, network_owner(counters.path)) for one, counters in snapshot.processes.items())
    found = {}
    for path, member in oldest_members(owned).items():
        activity, uid = snapshot.activities.get(path), name_group(path).pod_uid
        if uid is not None and activity is not None and activity.traffic is not None:
            found[uid] = member
    return found
