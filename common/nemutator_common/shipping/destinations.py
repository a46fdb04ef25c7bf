"""Where the brain is: a socket on this machine, or an address in the cluster."""

import re
from dataclasses import dataclass
from pathlib import Path

EXPECTED = "expected unix:/absolute/path or https://host:port"

_HTTPS = re.compile(
    r"https://(?P<host>\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9](?:[A-Za-z0-9.-]{0,251}[A-Za-z0-9])?)"
    r":(?P<port>[0-9]{1,5})"
)


@dataclass(frozen=True, slots=True)
class LocalBrain:
    socket: Path

    def __str__(self) -> str:
        return f"unix:{self.socket}"


@dataclass(frozen=True, slots=True)
class RemoteBrain:
    """A brain in the cluster, always called by TLS, because our token grants a node's rights."""

    host: str
    """A name or an address; IPv6 addresses are in brackets."""
    port: int

    def __str__(self) -> str:
        return f"https://{self.host}:{self.port}"


Destination = LocalBrain | RemoteBrain


def parse_destination(text: str) -> Destination:
    """Parse what `str()` of a destination writes; a ValueError says what was expected instead."""
    if text.startswith("unix:/") and "\0" not in text:
        return LocalBrain(Path(text.removeprefix("unix:")))
    match = _HTTPS.fullmatch(text)
    if match is None or not 0 < int(match["port"]) <= 65_535:
        raise ValueError(EXPECTED)
    return RemoteBrain(match["host"], int(match["port"]))


def destination(text: str) -> str | None:
    """A check of settings: *text* is empty, or says where the brain is."""
    try:
        parse_destination(text) if text else None
    except ValueError as wrong:
        return str(wrong)
    return None
