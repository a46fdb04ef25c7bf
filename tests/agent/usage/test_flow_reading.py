import asyncio
import contextlib
import socket
import threading
from collections.abc import AsyncIterator

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.flow_reading import (
    MOST_FLOWS,
    FlowReader,
    NotRead,
    SocketsNotReadError,
)
from nemutator_agent.usage.snapshot import MachineSnapshot
from nemutator_agent.usage.sock_diag import TcpSocket
from nemutator_common import names
from nemutator_common.wire_activity import Activity, Flow, NetworkRates

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.snapshots import process, snapshot

UIDS = [f"0f0e0d0c-0000-4000-8000-00000000000{number}" for number in range(3)]


class ScriptedTables:
    """Each reading finds a connection that has moved ten bytes more."""

    def __init__(self) -> None:
        self.asked: list[tuple[int, int]] = []
        self.fails: NotRead | None = None
        self.peers = 1

    async def read(self, pid: int, started_ticks: int) -> list[TcpSocket]:
        self.asked.append((pid, started_ticks))
        if self.fails is not None:
            raise SocketsNotReadError(self.fails)
        peer = socket.inet_aton("10.0.0.7")
        return [
            TcpSocket(bytes([n]), False, 9, peer, 1000 + n, 10 * len(self.asked), 0)
            for n in range(self.peers)
        ]


class Node:
    def __init__(self, pods: int = 3) -> None:
        self.clock, self.meter, self.tables = ManualClock(), MemoryMeter(), ScriptedTables()
        self.pods = pods
        self.reader = FlowReader(
            self.tables,
            self.latest,
            fake_process(clock=self.clock, meter=self.meter),
            in_thread=asyncio.to_thread,
            every_s=60.0,
        )

    def latest(self) -> MachineSnapshot:
        paths = [f"/kubepods/pod{uid}" for uid in UIDS[: self.pods]]
        return snapshot(
            0.0,
            processes={
                ProcessId(10 + n, 5): process(f"{path}/{'a' * 64}") for n, path in enumerate(paths)
            }
            | {ProcessId(1, 1): process("/init.scope")},
            # The last is in the machine's own network.
            activities={path: Activity(traffic=NetworkRates()) for path in paths[:2]},
        )

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.reader.run())
            await self.clock.until_sleeping()
            yield
            task.cancel()

    async def a_minute_passes(self) -> None:
        await self.clock.advance(60.0)
        await self.clock.until_sleeping()


async def test_pods_take_turns_and_those_of_the_machines_network_have_none() -> None:
    node = Node()
    found: list[Flow] = []
    async with node.running():
        for _ in range(3):
            await node.a_minute_passes()
            found += node.reader.taken()
    assert [one.pod_uid for one in found] == [UIDS[0], UIDS[1], UIDS[0]]
    assert [one.received for one in found] == [10, 10, 10]
    assert [one.to_at - one.from_at for one in found] == [60.0] * 3
    assert {pid for pid, _ in node.tables.asked} == {10, 11}
    assert node.meter.value(names.FLOW_READINGS, result="done") == 3


async def test_a_pod_that_cannot_be_read_is_counted_and_holds_up_nobody() -> None:
    node = Node()
    node.tables.fails = "many"
    async with node.running():
        for _ in range(2):
            await node.a_minute_passes()
    assert node.reader.taken() == ()
    assert node.reader.missing() == ()
    assert {pid for pid, _ in node.tables.asked} == {10, 11}
    assert node.meter.value(names.FLOW_READINGS, result="many") >= 2


async def test_without_the_right_it_says_what_is_missing() -> None:
    node = Node()
    node.tables.fails = "denied"
    async with node.running():
        [missing] = node.reader.missing()
        assert "CAP_SYS_ADMIN" in missing.remedy
        node.tables.fails = None
        for _ in range(2):
            await node.a_minute_passes()
        assert node.reader.missing() == ()


async def test_a_node_without_pods_waits() -> None:
    node = Node(pods=0)
    async with node.running():
        await node.a_minute_passes()
    assert node.tables.asked == []


async def test_flows_that_nobody_takes_are_bounded_and_counted() -> None:
    node = Node()
    node.tables.peers = 16
    minutes = MOST_FLOWS // 16 + 3
    async with node.running():
        for _ in range(minutes):
            await node.a_minute_passes()
    dropped = node.meter.value(names.FLOWS_DROPPED, reason="full")
    assert len(node.reader.taken()) == MOST_FLOWS
    assert dropped == 16 * minutes - MOST_FLOWS


async def test_a_table_of_many_connections_is_summed_up_beside_the_loop() -> None:
    threads: set[int] = set()

    class Noting(TcpSocket):
        @property
        def sent(self) -> int:
            threads.add(threading.get_ident())
            return 1

    class Tables(ScriptedTables):
        async def read(self, pid: int, started_ticks: int) -> list[TcpSocket]:
            return [Noting(*one) for one in await super().read(pid, started_ticks)]

    node = Node()
    node.reader.tables = Tables()
    async with node.running():
        await node.a_minute_passes()
    assert threads
    assert threading.get_ident() not in threads
