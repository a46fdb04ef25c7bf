"""`GET /v1/watch` on a socket: a stream of changes, for as long as its caller reads."""

import asyncio
import contextlib
import re
from collections import Counter
from dataclasses import KW_ONLY, dataclass, field

from aiohttp import web
from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.serving.connection import Connection, accepted_peer_of
from nemutator_common.serving.connection_state import DropReason

from nemutator_agent.credentials.connection_peer import UnknownPeer
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.ports import CallerHandler
from nemutator_agent.credentials.rotation.watching import watch
from nemutator_agent.identity.peers import Peer

WATCH_PATH = "/v1/watch"

MOST_EACH = 8
"""Watches of one user, or of one pod: they keep connections, of which each has 32."""

READ_S = 10.0
"""For a caller to read the line before, of which the kernel keeps 16 KiB."""

_HEADERS = {"Content-Type": "application/x-ndjson", "Cache-Control": "no-store"}


@dataclass(eq=False, slots=True)
class WatchApi:
    handler: CallerHandler
    process: Process
    _: KW_ONLY
    most: int
    """Watches of all users together."""
    read_s: float = READ_S
    _watchers: Counter[int] = field(default_factory=Counter, init=False)

    def routes(self) -> list[web.RouteDef]:
        return [web.get(WATCH_PATH, self._watch, allow_head=False)]

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        peer = accepted_peer_of(request)
        assert isinstance(peer, Peer | UnknownPeer)
        self.handler.admit(peer)
        after = _after(request)
        if self._watchers[peer.uid] >= MOST_EACH or self._watchers.total() >= self.most:
            raise HttpRefusal(
                429,
                f"this user has {MOST_EACH} watches already, or all together {self.most}",
                remedy="let one watch serve the whole program, or ask for the secret itself",
                step="watch",
                retry_after_s=1,
            )
        self._watchers[peer.uid] += 1
        try:
            return await self._stream(request, peer, after)
        finally:
            self._watchers -= Counter({peer.uid: 1})

    async def _stream(
        self, request: web.Request, peer: Peer | UnknownPeer, after: int | None
    ) -> web.StreamResponse:
        connection = request.protocol
        assert isinstance(connection, Connection)
        if request.transport is not None:
            # Else a reader who does not read would first fill 64 KiB of ours.
            request.transport.set_write_buffer_limits(0)
        response = web.StreamResponse(headers={**_HEADERS, "Server": names.PREFIX})
        response.enable_chunked_encoding()
        await response.prepare(request)
        lines = watch(self.handler.changes, lambda: self.handler.admit(peer), after)
        async with contextlib.aclosing(lines):
            async for line in lines:
                try:
                    async with asyncio.timeout(self.read_s):
                        await response.write(line)
                        await request.writer.drain()
                except TimeoutError:
                    self.process.meter.count(names.WATCHERS_DROPPED, reason="slow")
                    connection.drop(DropReason.UNREAD)
                    break
                connection.stream()
        return response


def _after(request: web.Request) -> int | None:
    after = request.query.get("after")
    number = after is None or re.fullmatch(r"[0-9]{1,18}", after)
    if request.query.keys() - {"after"} or not number:
        raise HttpRefusal(
            400,
            "the query is not understood",
            remedy="ask with ?after=SEQUENCE, the last one that was seen, or without",
            step="query",
        )
    return None if after is None else int(after)
