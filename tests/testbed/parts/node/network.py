"""The network of a run's pods: one bridge with an address, and nothing that leaves the machine.

Forwarding between interfaces and packet filters stay as they are, so pods reach each other and the
node, and nobody else: there is no default route that could lead further.
"""

import contextlib
import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

from tests.testbed.building.cache import MissingPartError
from tests.testbed.running import bridges
from tests.testbed.running.leftovers import bridge_of, nobody_else_begins
from tests.testbed.running.run import Run

# For tests between networks (RFC 2544), so it is nobody's network.
POOL = IPv4Network("198.19.0.0/16")
PREFIX = 24
FILTER_BRIDGES = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")
CALL_S = 60.0


@dataclass(frozen=True, slots=True)
class Network:
    bridge: str
    subnet: IPv4Network

    @property
    def address(self) -> IPv4Address:
        """Of the node on it."""
        return self.subnet[1]

    def cni(self, leases: Path) -> str:
        """The configuration of the plugins, which keep in *leases* who has which address."""
        ranges = [[{"subnet": str(self.subnet), "gateway": str(self.address)}]]
        plugin = {
            "type": "bridge",
            "bridge": self.bridge,
            # A gateway turns on forwarding for the whole machine, masquerading writes iptables.
            "isGateway": False,
            "ipMasq": False,
            "ipam": {"type": "host-local", "dataDir": str(leases), "ranges": ranges},
        }
        return json.dumps({"cniVersion": "0.4.0", "name": "nemutator-testbed", "plugins": [plugin]})


def make(run: Run) -> Network:
    """A bridge for this run with a subnet that nobody uses; `leftovers` removes it with the run."""
    try:
        # Two runs that begin together would see the same subnet free.
        with nobody_else_begins():
            network = Network(bridge_of(run.id), free_subnet(bridges.routes()))
            bridges.make(network.bridge, IPv4Interface((network.address, PREFIX)))
    except bridges.BridgeRefusedError as refused:
        raise MissingPartError(f"no node: no bridge can be made here: {refused}") from None
    return network


def filtered() -> str:
    """Why pods cannot reach each other on this machine, in words; empty when they can.

    A Docker beside us may drop what is forwarded, bridges' own traffic with it.
    """
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        rules = _read("iptables", "--list-rules", "FORWARD")
        if drops_bridged(FILTER_BRIDGES.read_text(), rules):
            return (
                "pods cannot reach each other: this machine drops what bridges forward; "
                "remedy: sysctl net.bridge.bridge-nf-call-iptables=0"
            )
    return ""


def drops_bridged(setting: str, rules: str) -> bool:
    """By the setting of the kernel, and the rules as `iptables --list-rules FORWARD` prints them."""
    return setting.strip() == "1" and "-P FORWARD DROP" in rules.splitlines()


def free_subnet(taken: Iterable[IPv4Network]) -> IPv4Network:
    """The first one in the pool that meets none of *taken*.

    Wider routes than the pool are ways out, of a VPN say, and not networks that are in use.
    """
    used = [network for network in taken if network.prefixlen > POOL.prefixlen]
    for subnet in POOL.subnets(new_prefix=PREFIX):
        if not any(subnet.overlaps(other) for other in used):
            return subnet
    raise MissingPartError(f"no node: all of {POOL} is in use on this machine")


def _read(*command: str) -> str:
    return subprocess.run(
        command, capture_output=True, text=True, timeout=CALL_S, check=True
    ).stdout
