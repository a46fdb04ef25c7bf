"""A receiver of Prometheus remote write that reads what it is sent as the specification says."""

import contextlib
import struct
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field

from aiohttp import web
from nemutator_controller.history.remote_write_messages import (
    RemoteWriteRefusedError,
    RemoteWriteUnavailableError,
)

Labels = frozenset[tuple[str, str]]


def varint(content: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        number |= (content[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not content[at - 1] & 0x80:
            return number, at


def unsnapped(block: bytes) -> bytes:
    """A block of snappy, of literals of any length alone."""
    size, at = varint(block, 0)
    found = bytearray()
    while at < len(block):
        tag = block[at]
        assert tag & 3 == 0, "a copy: this fake reads literals"
        length, at = tag >> 2, at + 1
        if length >= 60:
            bytes_ = length - 59
            length = int.from_bytes(block[at : at + bytes_], "little")
            at += bytes_
        found += block[at : at + length + 1]
        at += length + 1
    assert len(found) == size
    return bytes(found)


def fields(message: bytes) -> Iterator[tuple[int, object]]:
    at = 0
    while at < len(message):
        tag, at = varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(message, at)
            yield tag >> 3, value
        elif kind == 1:
            yield tag >> 3, struct.unpack_from("<d", message, at)[0]
            at += 8
        else:
            assert kind == 2
            length, at = varint(message, at)
            yield tag >> 3, message[at : at + length]
            at += length
    assert at == len(message)


def samples(body: bytes) -> Iterator[tuple[tuple[tuple[str, str], ...], float, int]]:
    """Labels as they were sent, value and time of each sample."""
    for number, series in fields(unsnapped(body)):
        assert number == 1
        assert isinstance(series, bytes)
        labels: list[tuple[str, str]] = []
        for part, content in fields(series):
            assert isinstance(content, bytes)
            if part == 1:
                pair = dict(fields(content))
                labels.append((_text(pair[1]), _text(pair[2])))
            else:
                sample = dict(fields(content))
                value, at = sample[1], sample[2]
                assert isinstance(value, float)
                assert isinstance(at, int)
                yield tuple(labels), value, at


def _text(content: object) -> str:
    assert isinstance(content, bytes)
    return content.decode()


@dataclass
class MemoryReceiver:
    """A `RemoteWriteReceiver`, as strict as the specification allows one to be."""

    kept: dict[Labels, dict[int, float]] = field(default_factory=dict)
    fails: list[Exception] = field(default_factory=list)
    """Raised in turn, before anything is taken."""
    bodies: int = 0

    async def write(self, body: bytes) -> None:
        if self.fails:
            raise self.fails.pop(0)
        self.take(body)

    def take(self, body: bytes) -> None:
        self.bodies += 1
        for labels, value, at in samples(body):
            names = [name for name, _ in labels]
            assert names == sorted(set(names)), "labels are sorted, and none twice"
            assert all(text for _, text in labels), "a label without a value is no label"
            series = self.kept.setdefault(frozenset(labels), {})
            assert at > max(series, default=0), "samples come in the order of time"
            series[at] = value

    def values(self, name: str, **labels: str) -> dict[int, float]:
        """By seconds since the epoch, of the only series that has these labels."""
        wanted = {("__name__", name), *labels.items()}
        (found,) = [series for has, series in self.kept.items() if wanted <= has]
        return {at // 1000: value for at, value in found.items()}


@dataclass
class HttpReceiver(MemoryReceiver):
    """The same over HTTP."""

    url: str = ""
    status: int = 204
    headers: Mapping[str, str] = field(default_factory=dict)
    said: str = ""
    asked: list[Mapping[str, str]] = field(default_factory=list)
    """The headers of each request."""

    @contextlib.asynccontextmanager
    async def serving(self, **where: object) -> AsyncIterator["HttpReceiver"]:
        application = web.Application(client_max_size=64 << 20)
        application.add_routes([web.post("/api/v1/write", self._write)])
        runner = web.AppRunner(application)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0, **where)  # type: ignore[arg-type]
            await site.start()
            scheme = "https" if where else "http"
            self.url = f"{scheme}://127.0.0.1:{runner.addresses[0][1]}/api/v1/write"
            yield self
        finally:
            await runner.cleanup()

    async def _write(self, request: web.Request) -> web.Response:
        self.asked.append(dict(request.headers))
        body = await request.read()
        if self.status // 100 == 2:
            self.take(body)
        return web.Response(status=self.status, headers=self.headers, text=self.said or None)


def refused() -> Exception:
    return RemoteWriteRefusedError("out of order")


def unavailable(retry_after_s: float = 0.0) -> Exception:
    return RemoteWriteUnavailableError("away", retry_after_s=retry_after_s)
