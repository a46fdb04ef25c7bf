from collections.abc import Collection, Iterable

from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.activities import Activities, StartCount
from nemutator_agent.usage.group_activity import ActivityFiles
from nemutator_agent.usage.hierarchies import Hierarchy
from nemutator_agent.usage.members import MemberFiles
from nemutator_agent.usage.pod_networks import NamespaceFile, PodNetworks
from nemutator_agent.usage.run_delays import SLOTS, RunDelays, middle_s
from nemutator_common.wire_activity import Activity

from tests.fakes.snapshots import group, process

V2 = Hierarchy(2, frozenset(), "/u", "/")
POD = "/kubepods/pod0f0e0d0c-0000-4000-8000-000000000001"
ONE, TWO = f"{POD}/{'a' * 64}", f"{POD}/{'b' * 64}"


class World:
    """A node with one pod, in files."""

    def __init__(self) -> None:
        self.texts: dict[str, bytes] = {}
        self.reads = 0
        self.networks = {1: NamespaceFile(1, b"")}
        self.schedstat = b"0 0 0"
        self.activities = Activities(
            ActivityFiles(self._read, {b"8:0"}),
            MemberFiles(lambda _: 3, lambda pid: [pid], lambda *_: self.schedstat),
            PodNetworks(self.networks.get),
            every_s=15.0,
            queues=self,
        )
        self.timed: dict[str, RunDelays] = {}
        self.living: set[str] = set()

    def delays(self, path: str, _hierarchies: Iterable[Hierarchy]) -> RunDelays | None:
        return self.timed.get(path)

    def forget(self, living: Collection[str]) -> None:
        self.living = set(living)

    def _read(self, path: str) -> bytes | None:
        self.reads += 1
        return self.texts.get(path)

    def network(self, pid: int, received: int) -> None:
        line = f"eth0: {received} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"
        self.networks[pid] = NamespaceFile(2, f"x\ny\n{line}".encode())

    def look(self, at: float, *containers: str, inode: int = 7) -> dict[str, Activity]:
        groups = {path: group(0, inode=inode) for path in (POD, *containers)}
        processes = {
            ProcessId(pid, pid): process(path) for pid, path in enumerate(containers, start=10)
        }
        hierarchies = dict.fromkeys(groups, (V2,))
        return dict(self.activities.read(at, groups, hierarchies, processes))


def test_rates_come_with_the_second_reading_and_stay_until_the_next() -> None:
    world = World()
    world.texts[f"/u{ONE}/io.stat"] = b"8:0 rbytes=0 wbytes=0\n"
    assert world.look(0.0, ONE)[ONE].disk_read is None
    world.texts[f"/u{ONE}/io.stat"] = b"8:0 rbytes=3000 wbytes=0\n"
    found = [world.look(at, ONE)[ONE].disk_read for at in (5.0, 10.0, 15.0, 20.0)]
    assert 200.0 <= max(one for one in found if one is not None) <= 600.0


def test_a_snapshot_reads_a_share_of_all_groups() -> None:
    world = World()
    world.look(0.0, ONE, TWO)
    at_first, world.reads = world.reads, 0
    world.look(3.0, ONE, TWO)
    assert 0 < world.reads < at_first


def test_a_network_is_on_the_pods_row() -> None:
    world = World()
    world.network(10, 1000)
    world.look(0.0, ONE, TWO)
    world.network(10, 16_000)
    found = world.look(15.0, ONE, TWO)
    traffic = found[POD].traffic
    assert traffic is not None
    assert traffic.received == 1000.0
    assert found[ONE].traffic is None


def test_open_files_and_waits_of_a_groups_own_processes() -> None:
    world = World()
    assert world.look(0.0, ONE)[ONE].open_files == 3
    world.schedstat = b"0 6000000000 1"
    assert world.look(60.0, ONE)[ONE].run_delay == 0.1


def turns(waited_ns: int, number: int) -> RunDelays:
    """All of them in one slot."""
    return RunDelays(waited_ns, (0,) * 20 + (number,) + (0,) * (SLOTS - 21))


def test_where_turns_are_timed_threads_are_not_asked_what_they_waited() -> None:
    world = World()
    world.timed[ONE] = turns(0, 0)
    world.schedstat = b"no numbers"
    assert world.look(0.0, ONE, TWO)[ONE].run_delay is None
    world.timed[ONE] = turns(1_500_000_000, 200)
    found = world.look(15.0, ONE, TWO)[ONE]
    assert (found.run_delay, found.run_delay_p99) == (0.1, middle_s(20))
    assert world.living == {POD, ONE, TWO}
    # What is known stays until the next reading, and does not with the last.
    assert world.look(15.0, ONE, TWO)[ONE] == found
    del world.timed[ONE]
    found = world.look(30.0, ONE, TWO)[ONE]
    assert (found.run_delay, found.run_delay_p99) == (None, None)


def test_of_another_group_under_the_same_path_nothing_is_told_yet() -> None:
    world = World()
    world.timed[ONE] = turns(10, 200)
    world.look(0.0, ONE)
    world.timed[ONE] = turns(20, 900)
    assert world.look(15.0, ONE, inode=8)[ONE].run_delay_p99 is None


def test_containers_that_are_new_in_a_known_pod_are_starts() -> None:
    world = World()
    assert world.look(0.0, ONE)[POD].starts == 0
    assert world.look(3.0, TWO)[POD].starts == 1
    assert world.look(6.0)[POD].starts == 1
    assert world.look(9.0, ONE)[POD].starts == 2


def test_another_group_under_the_same_path_begins_anew() -> None:
    world = World()
    world.texts[f"/u{ONE}/io.stat"] = b"8:0 rbytes=0 wbytes=0\n"
    world.look(0.0, ONE)
    found = world.look(15.0, ONE, inode=8)
    assert found[ONE].disk_read is None
    assert found[POD].starts == 0


def test_processes_that_began_are_a_rate_unless_some_were_not_heard() -> None:
    count = StartCount()
    assert count.taken(0.0) is None
    count.began = 30
    assert count.taken(15.0) == 2.0
    count.is_whole = False
    assert count.taken(30.0) is None
    assert count.taken(45.0) == 0.0
