"""An HTTP listener, from binding to the last answer."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable, Iterable
from http import HTTPStatus
from types import MappingProxyType

from aiohttp import web
from aiohttp.typedefs import Middleware

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import ScrapedMeter
from nemutator_common.readiness import Readiness
from nemutator_common.serving.addresses import Address
from nemutator_common.serving.answers import (
    Operation,
    Remarks,
    early_answer,
    operations,
)
from nemutator_common.serving.connection import Connection
from nemutator_common.serving.conversation import Drop
from nemutator_common.serving.door import Door
from nemutator_common.serving.guests import Guest
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.sharing import crowd
from nemutator_common.serving.sockets import ListeningSocket, peer_of, uid_of
from nemutator_common.serving.tls import TlsContext, TlsFiles, reason
from nemutator_common.serving.traffic import Traffic

__all__ = ["HttpServer", "TlsFiles"]

log = logging.getLogger(__name__)

RELOAD_S = 5.0
"""Between two looks at the certificate. cert-manager renews days ahead; kubelet takes a minute."""

PAUSE_S = 0.1
"""After a failed accept: when files have run out, only time brings them back."""

Greet = Callable[[socket.socket], Guest]
"""Looks at an accepted socket. It may not wait, and may not raise: a caller who cannot be known is
a guest of another kind, so that a handler can say why."""

MOST_TOLD = 16
"""Callers at a time who are told that they are too many; more are closed without a word."""

_TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS

ABORT_S = 0.2
"""For aborted connections and cancelled handlers to be gone. Longer would delay the whole stop."""


class HttpServer:
    """Serves *routes* on one address, and says how it goes.

    Order: `bind()`, then `run()` until it is cancelled; `close()` when it is never run. The
    *operations* are answered without authentication, before *middlewares*, which are the business
    of the listener's owner, as are security headers.

    Handlers are cancelled when their caller goes away or their time is over. They read bodies with
    `request.read()`, `json()`, `text()` or `post()`: these hold the cap on bodies.
    """

    def __init__(
        self,
        *,
        name: str,
        address: Address,
        routes: Iterable[web.AbstractRouteDef],
        meter: ScrapedMeter,
        readiness: Readiness,
        clock: Clock,
        middlewares: Iterable[Middleware] = (),
        operations: frozenset[Operation] = frozenset(),
        limits: Limits = Limits(),  # noqa: B008 - frozen
        tls: TlsFiles | None = None,
        socket_mode: int = 0o600,
        # for sockets that come and go
        listening: ListeningSocket | None = None,
        traffic: Traffic | None = None,
        greet: Greet | None = None,
        remarks: Remarks = MappingProxyType({}),
    ) -> None:
        """*listening* is a socket that is bound already, *traffic* counts for several listeners of
        one name, *greet* looks at each accepted socket before the event loop takes it, *remarks* go
        into what is refused without asking a handler."""
        self._name = name
        self._wanted = address
        self._routes = tuple(routes)
        self._middlewares = tuple(middlewares)
        self._operations = operations
        self._meter = meter
        self._readiness = readiness
        self._clock = clock
        self._limits = limits
        self._tls_files = tls
        self._socket_mode = socket_mode
        self._traffic = traffic or Traffic(name, meter)
        self._greet = greet
        self._remarks = remarks
        self._connections: set[Connection] = set()
        self._counted = 0
        self._told = 0
        self._empty = asyncio.Event()
        self._listening = listening
        self._tls: TlsContext | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def address(self) -> Address:
        """Where it really listens, once bound: with the port that the kernel chose."""
        return self._listening.address if self._listening else self._wanted

    @property
    def connections(self) -> int:
        """Open now, or with a handler that has not ended yet."""
        return len(self._connections)

    async def bind(self) -> None:
        """Listen: callers can connect, and wait for `run()`. Raises `OperatorError`."""
        if self._tls_files is not None:
            self._tls = TlsContext(self._tls_files)
        if self._listening is None:
            self._listening = ListeningSocket(
                self._wanted, mode=self._socket_mode, receive_bytes=self._limits.receive_bytes
            )

    def close(self) -> None:
        """Stop listening."""
        if self._listening is not None:
            self._listening.close()
            self._listening = None

    async def run(self) -> None:
        """Serve until cancelled, then drain: at most `drain_s` and a little."""
        assert self._listening is not None, "bind() comes first"
        runner = await self._runner()
        assert runner.server is not None
        self._count_connections()
        log.info("listening", {names.LISTENER: self._name, names.ADDRESS: self.address})
        try:
            async with asyncio.TaskGroup() as tasks:
                if self._tls is not None:
                    tasks.create_task(self._reload(self._tls), name=f"{self._name} certificate")
                await self._accept(self._listening.socket, runner.server, tasks)
        finally:
            self.close()
            try:
                await self._drain()
            finally:
                await runner.cleanup()

    async def _runner(self) -> web.AppRunner:
        application = web.Application(
            middlewares=self._middlewares, client_max_size=self._limits.body_bytes
        )
        application.add_routes(self._routes)
        runner = web.AppRunner(application, handler_cancellation=True)
        await runner.setup()
        assert runner.server is not None
        runner.server.request_handler = Door(
            inner=runner.server.request_handler,
            limits=self._limits,
            operations=operations(self._operations, readiness=self._readiness, meter=self._meter),
            traffic=self._traffic,
            remarks=self._remarks,
        )
        return runner

    async def _accept(
        self, listening: socket.socket, server: web.Server, tasks: asyncio.TaskGroup
    ) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(listening)
            except OSError as error:
                self._traffic.dropped(Drop.ACCEPT_FAILED)
                log.warning(
                    "accept_failed", {names.LISTENER: self._name, names.ERROR: error.strerror}
                )
                await self._clock.sleep(PAUSE_S)
                continue
            uid = uid_of(accepted) if self._limits.connections_each is not None else None
            if not self._has_room(uid):
                self._traffic.dropped(Drop.TOO_MANY)
                # Before a TLS handshake nothing can be said.
                if _TOO_MANY in self._remarks and self._tls is None and self._told < MOST_TOLD:
                    self._told += 1
                    tasks.create_task(self._turn_away(accepted), name=f"{self._name} refusal")
                else:
                    accepted.close()
            else:
                connection = Connection(
                    server,
                    peer=peer_of(accepted),
                    limits=self._limits,
                    traffic=self._traffic,
                    remarks=self._remarks,
                    gone=self._remove,
                    guest=self._greet(accepted) if self._greet is not None else None,
                    uid=uid,
                )
                self._connections.add(connection)
                self._count_connections()
                tasks.create_task(self._admit(accepted, connection), name=f"{self._name} admission")
            # sock_accept() does not yield while more callers wait, and they could wait for ever.
            await asyncio.sleep(0)

    def _has_room(self, uid: int | None) -> bool:
        """Whether another connection of *uid* may be had, when need be in place of an idle one."""
        crowded = crowd(uid, self._connections, self._limits)
        if crowded is None:
            return True
        idle = {one: until for one in crowded if (until := one.idle_until) is not None}
        if not idle:
            return False
        min(idle, key=idle.__getitem__).drop(Drop.TOO_MANY)
        return True

    async def _turn_away(self, accepted: socket.socket) -> None:
        """Say so, and close it once the caller has asked: before, it would see no answer at all."""
        loop = asyncio.get_running_loop()
        try:
            accepted.send(early_answer(_TOO_MANY, "too many connections", remarks=self._remarks))
            async with asyncio.timeout(self._limits.ending_s):
                await loop.sock_recv(accepted, self._limits.head_bytes)
        except (OSError, TimeoutError):
            pass
        finally:
            self._told -= 1
            accepted.close()

    async def _admit(self, accepted: socket.socket, connection: Connection) -> None:
        """Hand *accepted* to the event loop, after its TLS handshake when there is one."""
        loop = asyncio.get_running_loop()
        try:
            if self._tls is None:
                await loop.connect_accepted_socket(lambda: connection, accepted)
            else:
                await loop.connect_accepted_socket(
                    lambda: connection,
                    accepted,
                    ssl=self._tls.current,
                    ssl_handshake_timeout=self._limits.handshake_s,
                    ssl_shutdown_timeout=self._limits.ending_s,
                )
        except Exception as error:  # noqa: BLE001
            # What a stranger sends can fail in many ways, and each of them only ends the stranger.
            self._traffic.dropped(Drop.HANDSHAKE)
            log.debug("handshake_failed", {names.PEER: connection.peer, names.ERROR: reason(error)})
        finally:
            if not connection.made:
                self._remove(connection)

    async def _reload(self, tls: TlsContext) -> None:
        while True:
            await self._clock.sleep(RELOAD_S)
            try:
                result = "taken" if tls.refresh() else None
            except (OSError, ValueError) as error:
                result = "refused"
                log.error(
                    "certificate_refused",
                    {names.LISTENER: self._name, names.ERROR: reason(error)},
                )
            if result is not None:
                self._meter.count(names.TLS_RELOADS, listener=self._name, result=result)

    async def _drain(self) -> None:
        try:
            # What has arrived already is a request under way: let it be seen first.
            await asyncio.sleep(0)
            async with asyncio.timeout(self._limits.drain_s):
                for connection in tuple(self._connections):
                    connection.drain()
                await self._empty.wait()
        except TimeoutError:
            pass
        finally:
            for connection in tuple(self._connections):
                connection.drop(Drop.DRAIN_DEADLINE)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ABORT_S):
                await self._empty.wait()

    def _remove(self, connection: Connection) -> None:
        self._connections.discard(connection)
        if connection.guest is not None:
            connection.guest.close()
        self._count_connections()

    def _count_connections(self) -> None:
        self._traffic.opened(len(self._connections) - self._counted)
        self._counted = len(self._connections)
        if self._connections:
            self._empty.clear()
        else:
            self._empty.set()
