"""/proc/PID/net/dev: the interfaces of the network namespace that a process is in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_common.wire_activity import NetworkRates

from nemutator_agent.usage.malformed import MalformedError, whole

_MOST_INTERFACES = 4096
_ATTACHED = re.compile(rb"(?:eth|net)[0-9]+")
"""What container runtimes and Multus call the interfaces that lead out of a pod."""

_RECEIVED, _SENT = 0, 8


@dataclass(frozen=True, slots=True)
class InterfaceCounters:
    received_bytes: int = 0
    sent_bytes: int = 0
    received_packets: int = 0
    sent_packets: int = 0
    drops: int = 0
    errors: int = 0

    def plus(self, other: "InterfaceCounters") -> "InterfaceCounters":
        return InterfaceCounters(
            self.received_bytes + other.received_bytes,
            self.sent_bytes + other.sent_bytes,
            self.received_packets + other.received_packets,
            self.sent_packets + other.sent_packets,
            self.drops + other.drops,
            self.errors + other.errors,
        )


def parse_interfaces(content: bytes) -> Mapping[bytes, InterfaceCounters]:
    """Each interface by its name. The name may hold anything but blanks, slashes and colons."""
    lines = content.splitlines()[2 : 2 + _MOST_INTERFACES]
    found = {}
    # A file that is longer than one read may end within a line: that one is left out.
    for line in lines if content.endswith(b"\n") else lines[:-1]:
        name, colon, rest = line.rpartition(b":")
        values = rest.split()
        if not colon or len(values) < 16:
            raise MalformedError("/proc/PID/net/dev: expected 16 numbers after a colon")
        numbers = [whole(value, "/proc/PID/net/dev") for value in values]
        found[name.strip()] = InterfaceCounters(
            received_bytes=numbers[_RECEIVED],
            sent_bytes=numbers[_SENT],
            received_packets=numbers[_RECEIVED + 1],
            sent_packets=numbers[_SENT + 1],
            drops=numbers[_RECEIVED + 3] + numbers[_SENT + 3],
            errors=numbers[_RECEIVED + 2] + numbers[_SENT + 2],
        )
    return found


def leading_out(interfaces: Mapping[bytes, InterfaceCounters]) -> InterfaceCounters:
    """The sum over the interfaces by which a pod is reached.

    Bridges and tunnels that a pod makes in its own namespace lead through these; where no interface
    has a runtime's name, all but loopback count.
    """
    attached = {name: one for name, one in interfaces.items() if _ATTACHED.fullmatch(name)}
    total = InterfaceCounters()
    for name, one in (attached or interfaces).items():
        if name != b"lo":
            total = total.plus(one)
    return total


def interface_rates(
    before: InterfaceCounters | None, after: InterfaceCounters, elapsed_s: float
) -> NetworkRates:
    """Per second; None for a counter that went back."""
    if before is None or elapsed_s <= 0:
        return NetworkRates()

    def per_s(old: int, new: int) -> float | None:
        return None if new < old else round((new - old) / elapsed_s, 1)

    return NetworkRates(
        received=per_s(before.received_bytes, after.received_bytes),
        sent=per_s(before.sent_bytes, after.sent_bytes),
        packets_received=per_s(before.received_packets, after.received_packets),
        packets_sent=per_s(before.sent_packets, after.sent_packets),
        drops=per_s(before.drops, after.drops),
        errors=per_s(before.errors, after.errors),
    )
