"""A secret read again and again over the agent's socket, at a rate, as applications would."""

import math
import socket
import time
from collections.abc import Sequence
from pathlib import Path

PER_S = 100.0

Figures = dict[str, float]


def read_often(address: Path, name: str, *, seconds: float, reconnect: bool) -> Figures:
    """Milliseconds of a read; with *reconnect* each has a connection, and so an identity, anew."""
    question = f"GET /v1/secret/{name} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    connection = _connected(address)
    took: list[float] = []
    begin = time.perf_counter()
    for number in range(int(seconds * PER_S)):
        time.sleep(max(0.0, begin + number / PER_S - time.perf_counter()))
        at = time.perf_counter()
        if reconnect:
            connection.close()
            connection = _connected(address)
        connection.sendall(question)
        answer = _answer(connection)
        took.append((time.perf_counter() - at) * 1e3)
        assert answer.startswith(b"HTTP/1.1 200 "), answer[:300]
    connection.close()
    return {
        "reads": len(took),
        "p50_ms": percentile(took, 50),
        "p99_ms": percentile(took, 99),
        "most_ms": round(max(took), 3),
    }


def percentile(values: Sequence[float], percent: float) -> float:
    """The nearest rank."""
    ordered = sorted(values)
    return round(ordered[math.ceil(len(ordered) * percent / 100) - 1], 3)


def _connected(address: Path) -> socket.socket:
    opened = socket.socket(socket.AF_UNIX)
    opened.settimeout(5.0)
    opened.connect(str(address))
    return opened


def _answer(connection: socket.socket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(connection)
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(
        int(line.partition(b":")[2])
        for line in head.lower().split(b"\r\n")
        if line.startswith(b"content-length:")
    )
    while len(body) < length:
        more = _more(connection)
        received, body = received + more, body + more
    return received


def _more(connection: socket.socket) -> bytes:
    more = connection.recv(1 << 16)
    if not more:
        raise ConnectionError("the agent has closed the connection")
    return more
