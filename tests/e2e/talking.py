"""A plain HTTP client for what `nemutator up` listens on, and a look at what it counted."""

import http.client
import json
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Address = Path | tuple[str, int]
"""A unix socket, or host and port."""

PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def document(self) -> Any:
        return json.loads(self.body)


def connected(address: Address) -> socket.socket:
    family = socket.AF_UNIX if isinstance(address, Path) else socket.AF_INET
    opened = socket.socket(family)
    opened.settimeout(PATIENCE_S)
    try:
        opened.connect(str(address) if isinstance(address, Path) else address)
    except BaseException:
        opened.close()
        raise
    return opened


def ask(
    address: Address, path: str, headers: Mapping[str, str] | None = None, *, method: str = "GET"
) -> Answer:
    host = "localhost" if isinstance(address, Path) else "{}:{}".format(*address)
    connection = http.client.HTTPConnection(host, timeout=PATIENCE_S)
    connection.sock = connected(address)
    try:
        connection.request(
            method, path, headers={"Host": host, "Connection": "close"} | dict(headers or {})
        )
        response = connection.getresponse()
        return Answer(response.status, dict(response.getheaders()), response.read())
    finally:
        connection.close()


def counted(address: Address, metric: str, **labels: str) -> float:
    """The sum of all series of *metric* that have these *labels*; 0 when there is none."""
    total = 0.0
    for line in ask(address, "/metrics").text.splitlines():
        found = re.fullmatch(rf"{metric}(?:{{(.*)}})? (\S+)", line)
        if found and all(f'{name}="{value}"' in (found[1] or "") for name, value in labels.items()):
            total += float(found[2])
    return total
