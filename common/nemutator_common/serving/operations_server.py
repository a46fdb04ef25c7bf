"""A listener for the operations alone: for scrapers over the network, and for `mount`.

It does without aiohttp, which would cost `mount` more memory than all the rest of it. It reads no
more of a request than its head, and sends one response on each connection.
"""

import asyncio
import logging
import socket
import time
from dataclasses import dataclass, field
from http import HTTPStatus

from nemutator_common import names
from nemutator_common.addresses import Address, parse_address
from nemutator_common.process import Process
from nemutator_common.serving.connection_state import DropReason
from nemutator_common.serving.operations import ALL_OPERATIONS, OperationResponse, respond
from nemutator_common.serving.sockets import ListeningSocket, peer_of
from nemutator_common.serving.traffic import ServedRequest, Traffic

log = logging.getLogger(__name__)

LARGEST_HEAD = 8 << 10
MOST_CONNECTIONS = 16
"""A cluster has one or two scrapers, and kubelet asks one question at a time."""

REQUEST_S = 10.0
"""From the connection to the last byte of the response, whichever side is slow. It is the time that
Prometheus grants a scrape, too."""

PAUSE_S = 0.1
"""The wait after a failed accept: when files have run out, only waiting can help."""

_PATHS = {f"/{operation}": operation for operation in ALL_OPERATIONS}


@dataclass(kw_only=True, eq=False)
class OperationsServer:
    """Call `bind()`, then `run()` until it is cancelled, or `close()` when it is never run."""

    process: Process
    address: Address
    """Once bound, where it actually listens, with the port that the kernel chose."""
    name: str = "operations"
    request_s: float = REQUEST_S
    _listening: ListeningSocket | None = field(init=False, default=None)
    _traffic: Traffic = field(init=False)
    _open: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self._traffic = Traffic(self.name, self.process.meter)

    def bind(self) -> None:
        """Start to listen. Raises `OperatorError`."""
        self._listening = ListeningSocket(self.address, mode=0o600)
        self.address = self._listening.address

    def close(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    async def run(self) -> None:
        assert self._listening is not None, "bind() comes first"
        log.info("listening", {names.LISTENER: self.name, names.ADDRESS: self.address})
        try:
            async with asyncio.TaskGroup() as tasks:
                await self._accept(self._listening.socket, tasks)
        finally:
            self.close()

    async def _accept(self, listening: socket.socket, tasks: asyncio.TaskGroup) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                caller, _ = await loop.sock_accept(listening)
            except OSError as error:
                self._traffic.dropped(DropReason.ACCEPT_FAILED)
                log.warning(
                    "accept_failed", {names.LISTENER: self.name, names.ERROR: error.strerror}
                )
                await self.process.clock.sleep(PAUSE_S)
                continue
            if self._open < MOST_CONNECTIONS:
                self._count(1)
                tasks.create_task(self._serve(caller), name=f"{self.name} connection")
            else:
                self._traffic.dropped(DropReason.TOO_MANY)
                caller.close()
            # sock_accept() does not yield while more callers wait, and they could wait for ever.
            await asyncio.sleep(0)

    async def _serve(self, caller: socket.socket) -> None:
        try:
            async with asyncio.timeout(self.request_s):
                await self._answer(caller)
        except TimeoutError:
            self._traffic.dropped(DropReason.REQUEST_DEADLINE)
        except OSError:
            pass  # The caller has gone.
        finally:
            caller.close()
            self._count(-1)

    async def _answer(self, caller: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        head = b""
        while b"\r\n\r\n" not in head and len(head) < LARGEST_HEAD:
            received = await loop.sock_recv(caller, LARGEST_HEAD - len(head))
            if not received:
                return
            head += received
        started = time.monotonic()
        method, path, response = self._response(head)
        await loop.sock_sendall(caller, _encoded(response))
        self._traffic.answered(
            ServedRequest(
                method=method,
                path=path,
                status=response.status,
                body_bytes=len(response.body),
                seconds=time.monotonic() - started,
                peer=peer_of(caller),
                routine=True,
            )
        )

    def _response(self, head: bytes) -> tuple[str, str, OperationResponse]:
        """Method, path and response of the request that begins with *head*."""
        if b"\r\n\r\n" not in head:
            self._traffic.dropped(DropReason.HEAD_TOO_LARGE)
            return "", "", _refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            self._traffic.dropped(DropReason.BAD_REQUEST)
            return "", "", _refusal(HTTPStatus.BAD_REQUEST)
        method, path = words[0], words[1].partition("?")[0]
        operation = _PATHS.get(path)
        if operation is None:
            return method, path, _refusal(HTTPStatus.NOT_FOUND)
        if method != "GET":
            return method, path, _refusal(HTTPStatus.METHOD_NOT_ALLOWED)
        return method, path, respond(operation, self.process.readiness, self.process.meter)

    def _count(self, change: int) -> None:
        self._open += change
        self._traffic.opened(change)


def add_metrics_listener(process: Process, address: str) -> None:
    """Serve the operations on the TCP *address* of the setting `metrics`, unless it is empty."""
    if address:
        server = OperationsServer(process=process, address=parse_address(address))
        server.bind()
        process.supervisor.add("serve metrics", server.run)


def _refusal(status: HTTPStatus) -> OperationResponse:
    return OperationResponse(status, "text/plain; charset=utf-8", f"{status.phrase}\n".encode())


def _encoded(response: OperationResponse) -> bytes:
    head = (
        f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}",
        f"Content-Type: {response.content_type}",
        f"Content-Length: {len(response.body)}",
        "Cache-Control: no-store",
        "Connection: close",
        f"Server: {names.PREFIX}",
    )
    return "".join(f"{line}\r\n" for line in (*head, "")).encode() + response.body
