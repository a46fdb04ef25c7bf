"""An address to listen on or to call: a unix socket or TCP, written the same way everywhere."""

import ipaddress
import re
from dataclasses import dataclass
from pathlib import Path

EXPECTED = "expected unix:/absolute/path, 127.0.0.1:8420 or [::1]:8420"

_TCP = re.compile(r"(?:\[(?P<six>[0-9A-Fa-f:.]+)\]|(?P<four>[0-9.]+)):(?P<port>[0-9]{1,5})")


@dataclass(frozen=True, slots=True)
class UnixAddress:
    path: Path

    def __str__(self) -> str:
        return f"unix:{self.path}"


@dataclass(frozen=True, slots=True)
class TcpAddress:
    host: str
    """An IP address. Names are not accepted, because what they resolve to may change."""
    port: int
    """For a listener, 0 means any free port."""

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


Address = UnixAddress | TcpAddress


def parse_address(text: str) -> Address:
    """Parse what `str()` of an address writes; a `ValueError` says what was expected instead."""
    if text.startswith("unix:"):
        return _unix(text.removeprefix("unix:"))
    match = _TCP.fullmatch(text)
    if match is None:
        raise ValueError(EXPECTED)
    host, port = match["six"] or match["four"], int(match["port"])
    if port > 65535:
        raise ValueError("expected a port from 0 to 65535")
    try:
        ip = ipaddress.IPv6Address(host) if match["six"] else ipaddress.IPv4Address(host)
    except ValueError:
        raise ValueError(EXPECTED) from None
    return TcpAddress(str(ip), port)


def _unix(path: str) -> UnixAddress:
    if not path.startswith("/") or "\0" in path:
        raise ValueError(EXPECTED)
    return UnixAddress(Path(path))
