"""Bridges of the kernel, and where its routes lead, asked of it by netlink."""

import contextlib
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path
from typing import Any

from pyroute2 import IPRoute, NetlinkError  # type: ignore[import-untyped]

from tests.testbed.running.ports import LOOPBACK

# rtnetlink(7): the kernel's own routes to addresses of this machine.
LOCAL_TABLE = 255
HOST_SCOPE = 254


class BridgeRefusedError(Exception):
    """The kernel makes none here; the message says why."""


def make(name: str, address: IPv4Interface) -> None:
    """Raises BridgeRefusedError."""
    try:
        with IPRoute() as kernel:
            # Without an address of its own it takes the lowest of its ports', which come and go.
            mac = _mac(address)
            kernel.link("add", ifname=name, kind="bridge", address=mac, state="up")
            (bridge,) = kernel.link_lookup(ifname=name)
            length = address.network.prefixlen
            kernel.addr("add", index=bridge, address=str(address.ip), prefixlen=length)
    except NetlinkError as refused:
        raise BridgeRefusedError(os.strerror(refused.code)) from None


def call_from_loopback(name: str, address: IPv4Address) -> None:
    """Whoever calls the bridge's *address* on this machine does it from LOOPBACK, until the bridge goes."""
    with IPRoute() as kernel:
        (bridge,) = kernel.link_lookup(ifname=name)
        kernel.route(
            "replace",
            dst=f"{address}/32",
            table=LOCAL_TABLE,
            type="local",
            scope=HOST_SCOPE,
            oif=bridge,
            prefsrc=LOOPBACK,
        )


def remove(name: str) -> None:
    """And its ports: the kernel takes those away some time after their pods, unless it is told."""
    bridge = Path("/sys/class/net", name)
    if not bridge.exists():
        return
    with IPRoute() as kernel:
        for port in os.listdir(bridge / "brif"):
            # Fails when the kernel was faster.
            with contextlib.suppress(NetlinkError):
                kernel.link("del", ifname=port)
        kernel.link("del", ifname=name)


def routes() -> list[IPv4Network]:
    """The networks that routes of all tables lead to."""
    with IPRoute() as kernel:
        return list(routed(kernel.get_routes(family=socket.AF_INET)))


def routed(routes: Iterable[Mapping[str, Any]]) -> Iterator[IPv4Network]:
    """As the kernel lists them: a default route has no `dst`."""
    for route in routes:
        if to := route.get("dst"):
            yield IPv4Network((to, route["dst_len"]))


def _mac(address: IPv4Interface) -> str:
    # Locally administered, and another one for each subnet.
    return ":".join(f"{byte:02x}" for byte in (0x02, 0x00, *address.packed))
