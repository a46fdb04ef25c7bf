"""An HTTP listener, from binding to the last response."""

import asyncio
import contextlib
import itertools
import logging
import socket
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus

from aiohttp import web
from aiohttp.typedefs import Middleware

from nemutator_common import names
from nemutator_common.addresses import Address
from nemutator_common.process import Process
from nemutator_common.serving.accept_queue import AcceptQueue
from nemutator_common.serving.accepted_peer import AcceptedPeer
from nemutator_common.serving.connection import Connection
from nemutator_common.serving.connection_state import DropReason
from nemutator_common.serving.fair_share import HeldConnections, drop_candidates
from nemutator_common.serving.handshaking import TooManyWaitError
from nemutator_common.serving.later_path import LaterHandler, LaterPath
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.operations import Operation
from nemutator_common.serving.plain_path import PlainHandler, PlainPath, PostHandler
from nemutator_common.serving.request_pipeline import RequestPipeline
from nemutator_common.serving.responses import (
    ErrorDetails,
    early_response,
    operations,
)
from nemutator_common.serving.sockets import ListeningSocket, peer_of, uid_of
from nemutator_common.serving.tls import TlsContext, TlsFiles, reason
from nemutator_common.serving.tls_accepting import ENDS_A_TURN, TlsAccepting
from nemutator_common.serving.traffic import Traffic

__all__ = ["HttpServer", "TlsFiles"]

log = logging.getLogger(__name__)

PAUSE_S = 0.1
"""The wait after a failed accept: when files have run out, only waiting can help."""

AcceptPeer = Callable[[socket.socket], AcceptedPeer]
"""Examines an accepted socket before the event loop takes it. It may not wait, and may not raise: a
caller who cannot be identified is a peer of another kind, so that a handler can say why."""

MOST_REFUSALS = 16
"""The most callers at a time who get a response that there are too many connections; the
connections of others are closed without one."""

_TOO_MANY = HTTPStatus.TOO_MANY_REQUESTS

TURNS = 3
"""Of the event loop, until what has arrived is read on each kind of loop and its handlers have begun."""

ABORT_S = 0.2
"""The time for aborted connections and cancelled handlers to end. More would delay the stop."""

ABORT_EACH_S = 0.0002
"""And for each connection, because every turn of the event loop ends so many."""


@dataclass(kw_only=True, eq=False)
class HttpServer:
    """Serves *routes* on one address, and counts and logs what it serves.

    Call `bind()`, then `run()` until it is cancelled, or `close()` when it is never run. The
    *operations* are answered without authentication, before *middlewares*, which are up to the
    listener's owner, as are security headers.

    Handlers are cancelled when their caller disconnects or their time is over. They read bodies
    with `request.read()`, `json()`, `text()` or `post()`, which enforce the cap on bodies.
    """

    process: Process
    name: str
    address: Address
    """Once bound, where it actually listens, with the port that the kernel chose."""
    routes: Iterable[web.AbstractRouteDef]
    middlewares: Iterable[Middleware] = ()
    operations: frozenset[Operation] = frozenset()
    limits: Limits = Limits()
    tls: TlsFiles | None = None
    few_callers: bool = False
    """Whether callers over TLS are few and ask often: each then has buffers of its own, which spare half of the calls of the kernel."""
    socket_mode: int = 0o600
    shares_port: bool = False
    """Whether other processes of ours may listen on the same port."""
    listening: ListeningSocket | None = None
    """A socket that is bound already."""
    traffic: Traffic | None = None
    """Given where several sockets count as one listener."""
    held: HeldConnections[Connection] = field(default_factory=HeldConnections)
    """Given where several sockets have one limit together."""
    accept_peer: AcceptPeer | None = None
    pace: Callable[[bool], float] | None = None
    """How long to wait after each connection, given whether it was one too many, so that callers who only
    connect take no more time of the event loop than they may; those that wait do so in the kernel."""
    plain: PlainHandler | None = None
    """Answers plain requests that need no waiting, before the routes are asked."""
    posts: PostHandler | None = None
    """The same for plain posts."""
    later: LaterHandler | None = None
    """Answers what our own processes ask with a token, in its own time, before the routes are asked."""
    error_details: ErrorDetails = field(default_factory=dict)
    """What is added to the error responses that no handler makes."""
    _traffic: Traffic = field(init=False)
    _plain_path: PlainPath | None = field(init=False, default=None)
    _later_path: LaterPath | None = field(init=False, default=None)
    _connections: dict[Connection, None] = field(init=False, default_factory=dict)
    _counted: int = field(init=False, default=0)
    _ending: bool = field(init=False, default=False)
    _empty: asyncio.Event = field(init=False, default_factory=asyncio.Event)
    _tls: TlsAccepting | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self._traffic = self.traffic or Traffic(self.name, self.process.meter)
        if self.plain is not None or self.posts is not None:
            self._plain_path = PlainPath(self._traffic, self.plain, self.posts)

    @property
    def connections(self) -> int:
        """The number of connections that are open, or have a handler that has not ended yet."""
        return len(self._connections)

    async def bind(self) -> None:
        """Start to listen: callers can connect, and wait for `run()`. Raises `OperatorError`."""
        if self.tls is not None:
            self._tls = TlsAccepting(
                listener=self.name,
                context=TlsContext(self.tls),
                process=self.process,
                limits=self.limits,
                traffic=self._traffic,
                buffered=self.few_callers,
            )
        if self.listening is None:
            self.listening = ListeningSocket(
                self.address,
                mode=self.socket_mode,
                receive_bytes=self.limits.receive_bytes,
                shared=self.shares_port,
            )
        self.address = self.listening.address

    def close(self) -> None:
        """Stop listening."""
        if self.listening is not None:
            self.listening.close()
            self.listening = None

    async def run(self) -> None:
        """Serve until cancelled, then drain for at most a little more than `linger_s` and `drain_s`."""
        assert self.listening is not None, "bind() comes first"
        runner = await self._runner()
        assert runner.server is not None
        self._count_connections()
        log.info("listening", {names.LISTENER: self.name, names.ADDRESS: self.address})
        # Those who wait for an answer have it while the listener drains.
        async with asyncio.TaskGroup() as answering:
            if self.later is not None:
                self._later_path = LaterPath(
                    self.later, self._traffic, self.error_details, answering
                )
            await self._serve(runner, runner.server)

    async def _serve(self, runner: web.AppRunner, server: web.Server) -> None:
        assert self.listening is not None
        try:
            async with asyncio.TaskGroup() as tasks:
                if self._tls is not None:
                    tasks.create_task(self._tls.reload(), name=f"{self.name} certificate")
                accept = partial(self._accept, self.listening.socket, server, tasks)
                accepting = tasks.create_task(accept(), name=f"{self.name} accept")
                try:
                    await asyncio.wait([accepting])
                finally:
                    if self.limits.linger_s > 0.0:
                        # In here, so that handshakes are finished that have begun.
                        await self._linger(accepting, accept)
        finally:
            self.close()
            try:
                await self._drain()
            finally:
                await runner.cleanup()

    async def _runner(self) -> web.AppRunner:
        application = web.Application(
            middlewares=self.middlewares, client_max_size=self.limits.body_bytes
        )
        application.add_routes(self.routes)
        runner = web.AppRunner(application, handler_cancellation=True)
        await runner.setup()
        assert runner.server is not None
        runner.server.request_handler = RequestPipeline(
            inner=runner.server.request_handler,
            limits=self.limits,
            operations=operations(self.operations, self.process),
            traffic=self._traffic,
            error_details=self.error_details,
        )
        return runner

    async def _accept(
        self,
        listening: socket.socket,
        server: web.Server,
        tasks: asyncio.TaskGroup,
        *,
        waiting_only: bool = False,
    ) -> None:
        """*waiting_only*: return when nobody waits any more, or no more of them can be served anyway."""
        queue = AcceptQueue(listening)
        try:
            await self._accept_from(queue, listening, server, tasks, waiting_only=waiting_only)
        finally:
            queue.leave()

    async def _accept_from(
        self,
        queue: AcceptQueue,
        listening: socket.socket,
        server: web.Server,
        tasks: asyncio.TaskGroup,
        *,
        waiting_only: bool,
    ) -> None:
        for _ in range(self.limits.connections) if waiting_only else itertools.count():
            if not waiting_only:
                # While more callers wait nothing else here yields, and others could wait for ever.
                await queue.filled()
            try:
                # Not by the event loop: what `accept_peer` learns has to be of the moment of accept.
                accepted, _ = listening.accept()
            except BlockingIOError:
                if waiting_only:
                    return
                continue
            except OSError as error:
                if waiting_only:
                    return
                self._traffic.dropped(DropReason.ACCEPT_FAILED)
                log.warning(
                    "accept_failed", {names.LISTENER: self.name, names.ERROR: error.strerror}
                )
                queue.leave()
                await self.process.clock.sleep(PAUSE_S)
                continue
            accepted.setblocking(False)
            uid = uid_of(accepted) if self.limits.connections_each is not None else None
            crowded = drop_candidates(uid, self.held.open, self.limits)
            if crowded is not None and not self._drop_idle(crowded):
                self._traffic.dropped(DropReason.TOO_MANY)
                # Before a TLS handshake no response can be sent.
                if (
                    _TOO_MANY in self.error_details
                    and self._tls is None
                    and self.held.refusals < MOST_REFUSALS
                ):
                    self.held.refusals += 1
                    tasks.create_task(self._turn_away(accepted), name=f"{self.name} refusal")
                else:
                    accepted.close()
            else:
                accepted_peer = self.accept_peer(accepted) if self.accept_peer else None
                connection = Connection(
                    server,
                    # What was asked of the kernel is not asked again.
                    peer=peer_of(accepted) if accepted_peer is None else accepted_peer.shown,
                    limits=self.limits,
                    traffic=self._traffic,
                    error_details=self.error_details,
                    gone=self._remove,
                    accepted_peer=accepted_peer,
                    uid=uid,
                    plain=self._plain_path,
                    later=self._later_path,
                    descriptor=accepted.fileno() if self._tls is None else None,
                )
                connection.draining = self._ending
                self._connections[connection] = self.held.open[connection] = None
                self._count_connections()
                admission = self._admit(accepted, connection)
                if self._tls is None:
                    # It waits for nobody.
                    await admission
                else:
                    tasks.create_task(admission, name=f"{self.name} admission")
            pause_s = self.pace(crowded is not None) if self.pace is not None else 0.0
            if pause_s > 0.0:
                queue.leave()
                await self.process.clock.sleep(pause_s)

    def _drop_idle(self, crowded: Iterable[Connection]) -> bool:
        """Drop the one that is idle the longest; whether there is any."""
        idle = {one: until for one in crowded if (until := one.idle_until) is not None}
        if not idle:
            return False
        min(idle, key=idle.__getitem__).drop(DropReason.TOO_MANY)
        return True

    async def _turn_away(self, accepted: socket.socket) -> None:
        """Respond with an error, and close once the caller has sent something: a caller whose
        connection is closed before that would never see the response."""
        loop = asyncio.get_running_loop()
        try:
            accepted.send(
                early_response(_TOO_MANY, "too many connections", error_details=self.error_details)
            )
            async with asyncio.timeout(self.limits.ending_s):
                await loop.sock_recv(accepted, self.limits.head_bytes)
        except (OSError, TimeoutError):
            pass
        finally:
            self.held.refusals -= 1
            accepted.close()

    async def _admit(self, accepted: socket.socket, connection: Connection) -> None:
        """Hand *accepted* to the event loop, after its TLS handshake when there is one."""
        try:
            if self._tls is None:
                loop = asyncio.get_running_loop()
                await loop.connect_accepted_socket(lambda: connection, accepted)
            else:
                await self._tls.connect(accepted, connection)
        except Exception as error:  # noqa: BLE001
            # What a stranger sends can fail in many ways, each of which only ends this connection.
            crowded = isinstance(error, TooManyWaitError)
            self._traffic.dropped(DropReason.TOO_MANY if crowded else DropReason.HANDSHAKE)
            log.debug("handshake_failed", {names.PEER: connection.peer, names.ERROR: reason(error)})
        finally:
            if not connection.made:
                self._remove(connection)

    async def _drain(self) -> None:
        try:
            # Bytes that have arrived already are a current request: let the loop read them first.
            for _ in range(TURNS):
                await asyncio.sleep(0)
            async with asyncio.timeout(self.limits.drain_s):
                for drained, connection in enumerate(tuple(self._connections), 1):
                    connection.drain()
                    if drained % ENDS_A_TURN == 0:
                        await asyncio.sleep(0)
                await self._empty.wait()
        except TimeoutError:
            pass
        finally:
            for connection in tuple(self._connections):
                connection.drop(DropReason.DRAIN_DEADLINE)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ABORT_S + ABORT_EACH_S * len(self._connections)):
                await self._empty.wait()

    async def _linger(
        self, accepting: asyncio.Task[None], accept: Callable[..., Awaitable[None]]
    ) -> None:
        """Let callers learn from a response that their connection closes, before it does. Who connects
        meanwhile has not heard that the listener stops, and learns it in the same way."""
        self._ending = True
        for connection in self._connections:
            connection.draining = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.limits.linger_s):
                await self._empty.wait()
        if not accepting.cancelling():
            accepting.cancel()
            await asyncio.wait([accepting])
            # The kernel has told those who wait that they are connected.
            await accept(waiting_only=True)
        self.close()
        await self._drain()

    def _remove(self, connection: Connection) -> None:
        self._connections.pop(connection, None)
        self.held.open.pop(connection, None)
        if connection.accepted_peer is not None:
            connection.accepted_peer.close()
        self._count_connections()

    def _count_connections(self) -> None:
        self._traffic.opened(len(self._connections) - self._counted)
        self._counted = len(self._connections)
        if self._connections:
            self._empty.clear()
        else:
            self._empty.set()
