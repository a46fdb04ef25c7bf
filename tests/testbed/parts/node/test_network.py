"""A subnet is free when nothing on the machine leads into it."""

import json
from ipaddress import IPv4Network
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.testbed.building.cache import MissingPartError
from tests.testbed.parts.node.network import (
    POOL,
    Network,
    drops_bridged,
    free_subnet,
)

FIRST, SECOND, *_ = POOL.subnets(new_prefix=24)
subnets = st.lists(st.sampled_from(list(POOL.subnets(new_prefix=24))), max_size=200)


@given(subnets)
def test_it_meets_none_that_is_taken(taken: list[IPv4Network]) -> None:
    free = free_subnet(taken)
    assert free.subnet_of(POOL)
    assert not any(free.overlaps(other) for other in taken)


@pytest.mark.parametrize(
    ("taken", "free"),
    [
        ([], FIRST),
        (["198.19.0.1/32"], SECOND),
        (["198.19.0.0/23"], IPv4Network("198.19.2.0/24")),
        (["192.0.2.0/24", "10.0.0.0/8"], FIRST),
        (["128.0.0.0/1"], FIRST),  # half of the world: a VPN's way out
    ],
)
def test_a_way_out_takes_nothing_and_an_address_its_subnet(
    taken: list[str], free: IPv4Network
) -> None:
    assert free_subnet(map(IPv4Network, taken)) == free


def test_a_machine_that_uses_all_of_them_gets_no_node() -> None:
    with pytest.raises(MissingPartError, match=r"all of 198\.19\.0\.0/16 is in use"):
        free_subnet(POOL.subnets(new_prefix=17))


def test_the_plugins_change_nothing_but_the_bridge() -> None:
    network = Network("nmt0123ab", FIRST)
    (plugin,) = json.loads(network.cni(Path("/run-of-ours/leases")))["plugins"]
    assert plugin["bridge"] == "nmt0123ab"
    assert not plugin["isGateway"]
    assert not plugin["ipMasq"]
    assert plugin["ipam"]["dataDir"] == "/run-of-ours/leases"
    assert plugin["ipam"]["ranges"] == [[{"subnet": "198.19.0.0/24", "gateway": "198.19.0.1"}]]
    assert "routes" not in plugin["ipam"]


@pytest.mark.parametrize(
    ("setting", "policy", "dropped"),
    [("1\n", "DROP", True), ("1\n", "ACCEPT", False), ("0\n", "DROP", False)],
)
def test_bridges_are_filtered_where_kernel_and_policy_say_so(
    setting: str, policy: str, *, dropped: bool
) -> None:
    rules = f"-P FORWARD {policy}\n-A FORWARD -j DOCKER-USER\n"
    assert drops_bridged(setting, rules) is dropped
