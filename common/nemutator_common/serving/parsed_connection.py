"""aiohttp's HTTP protocol on one connection, which comes once there is something to parse, and goes when the caller rests."""

import asyncio
import math

from aiohttp import web
from aiohttp.base_protocol import BaseProtocol

from nemutator_common.serving.limits import Limits

# Our own timeouts are shorter, but aiohttp's timer cannot be switched off.
_NEVER_S = 1e7

_SHORTLY_S = 0.01
"""For aiohttp's task to end an answer; a timer that is due at once would be served before it again and again."""


class ParsedConnection(web.RequestHandler):
    """What aiohttp keeps for a connection, which most callers need none of."""

    __slots__ = ("_has_part", "_limits", "_parsing", "_rest_at", "_server", "_wire")

    def __init__(self, server: web.Server, limits: Limits) -> None:
        # The rest of aiohttp's comes when there is something to parse.
        BaseProtocol.__init__(self, asyncio.get_running_loop())
        self._server = server
        self._limits = limits
        self._parsing = False
        """Whether aiohttp knows of this connection."""
        self._has_part = False
        """Whether the parser may hold a part of a request: then what comes next is not the beginning of one."""
        self._rest_at = math.inf
        """When what it keeps for this connection is given back, unless another request comes."""
        # aiohttp drops its reference to the transport when it closes it, so that a transport that
        # cannot be flushed would stay open.
        self._wire: asyncio.Transport | None = None

    def connection_lost(self, exc: BaseException | None) -> None:
        self._wire = None
        if self._parsing:
            super().connection_lost(exc)

    def force_close(self) -> None:
        if self._parsing:
            super().force_close()
        elif self._wire is not None:
            self._wire.close()

    def _parse(self, data: bytes) -> None:
        if not self._parsing:
            if self._wire is None or self._wire.is_closing():
                return
            self._begin_parsing(self._wire)
        super().data_received(data)

    def _begin_parsing(self, wire: asyncio.Transport) -> None:
        paused = self._paused
        super().__init__(
            self._server,
            loop=self._loop,
            access_log=None,  # type: ignore[arg-type] # None disables it
            keepalive_timeout=_NEVER_S,
            lingering_time=self._limits.ending_s,
            max_field_size=self._limits.head_bytes,
            max_headers=self._limits.headers,
            max_line_size=self._limits.head_bytes,
        )
        self._paused = paused
        self._parsing = True
        super().connection_made(wire)

    def _rest_or_later(self) -> None:
        # After a time in which the loop was held up, timers come before aiohttp's task has ended the last answer.
        # It would go on beside the task of the next request, and close the connection under it.
        if self._waiter is None:
            self._rest_at = self._loop.time() + max(self._limits.rest_s, _SHORTLY_S)
        else:
            self._rest()

    def _rest(self) -> None:
        """Give back what aiohttp keeps for a connection: a parser, a task, the last request and its answer are twice as much
        as all the rest of it. The next bytes begin anew."""
        # Without it, aiohttp takes the connection for lost, and does not close it.
        self.transport = None
        super().connection_lost(None)
        self._parsing = False
