from nemutator_agent.inspection.identities import ProcessId
from nemutator_agent.usage.network_files import InterfaceCounters
from nemutator_agent.usage.pod_networks import (
    NamespaceFile,
    NetworkCounters,
    PodNetworks,
    network_owner,
    oldest_members,
    rates_between,
)
from nemutator_common.wire_activity import NetworkRates

POD = "/kubepods/burstable/pod0f0e0d0c-0000-4000-8000-000000000001"
CONTAINER = f"{POD}/{'a' * 64}"
DEV = b"x\ny\neth0: 100 1 0 0 0 0 0 0 200 2 0 0 0 0 0 0\n"


def test_a_pods_network_is_its_own_or_the_machines() -> None:
    files = {1: NamespaceFile(7, DEV), 10: NamespaceFile(8, DEV), 11: NamespaceFile(7, DEV)}
    networks = PodNetworks(files.get)
    counted = InterfaceCounters(100, 200, 1, 2, 0, 0)
    assert networks.counters(10, 5.0) == NetworkCounters(5.0, 8, counted)
    assert networks.counters(11, 5.0) is None
    assert networks.counters(12, 5.0) is None
    del files[1]
    assert networks.counters(10, 6.0) is None


def test_garbage_is_not_known() -> None:
    files = {1: NamespaceFile(7, b""), 10: NamespaceFile(8, b"x\ny\nz\n")}
    assert PodNetworks(files.get).counters(10, 5.0) is None


def test_rates_begin_anew_in_another_namespace() -> None:
    def counters(at: float, inode: int, received: int) -> NetworkCounters:
        return NetworkCounters(at, inode, InterfaceCounters(received))

    before = counters(0.0, 8, 100)
    assert rates_between(before, counters(10.0, 8, 200)).received == 10.0
    assert rates_between(before, counters(10.0, 9, 200)) == NetworkRates()
    assert rates_between(None, before) == NetworkRates()
    assert rates_between(before, before) == NetworkRates()


def test_a_pods_containers_share_one_network() -> None:
    assert network_owner(CONTAINER) == POD
    assert network_owner(f"{CONTAINER}/below/it") == POD
    assert network_owner(f"/docker/{'b' * 64}/x") == f"/docker/{'b' * 64}"
    assert network_owner("/system.slice/ssh.service") is None


def test_the_oldest_process_speaks_for_all() -> None:
    old, young, alone = ProcessId(9, 5), ProcessId(3, 50), ProcessId(4, 1)
    found = oldest_members([(young, POD), (old, POD), (alone, None)])
    assert found == {POD: old}
