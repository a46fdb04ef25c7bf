"""A connection that ends when its time is over, or its caller sends too much: aiohttp has no such deadlines and caps."""

import asyncio
import math
from http import HTTPStatus
from typing import cast

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong

from nemutator_common import names
from nemutator_common.serving.connection_state import ConnectionState, DropReason, Phase
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.parsed_connection import ParsedConnection
from nemutator_common.serving.responses import ErrorDetails, early_response, error_response
from nemutator_common.serving.traffic import ServedRequest, Traffic


class TimedConnection(ParsedConnection):
    """A connection that closes itself when `ConnectionState` says so."""

    __slots__ = (
        "_body_bytes",
        "_busy",
        "_deadline",
        "_error_details",
        "_lost",
        "_state",
        "_streaming",
        "_timer",
        "_timer_at",
        "_traffic",
        "draining",
        "dropped",
        "peer",
    )

    def __init__(
        self,
        server: web.Server,
        *,
        peer: str,
        limits: Limits,
        traffic: Traffic,
        error_details: ErrorDetails,
    ) -> None:
        super().__init__(server, limits)
        self.draining = False
        self.dropped: DropReason | None = None
        """Why we ended the connection, once we have."""
        self.peer = peer
        self._traffic = traffic
        self._error_details = error_details
        self._body_bytes: int | None = None
        """Of the request that is being answered, where its head says it."""
        self._busy = False
        self._streaming = False
        self._state = ConnectionState(limits, self._loop.time())
        self._deadline: asyncio.Timeout | None = None
        self._lost = False
        self._timer: asyncio.Handle | None = None
        # uvloop's timers that are due at once do not know when they are.
        self._timer_at = math.inf

    # --- from the request pipeline ---------------------------------------------------------------
    def begin(self, deadline: asyncio.Timeout, body_bytes: int | None) -> None:
        """A request starts; *deadline* is rescheduled to now when its time is over."""
        self._body_bytes = body_bytes
        self._busy = True
        self._rest_at = math.inf
        self._deadline = deadline
        self._state.begun(self._loop.time(), ahead=bool(self._messages))
        self._watch()

    def stream(self) -> None:
        """A line of a response without an end was sent: the next one has as much time as a whole
        response, and `drain` does not wait for the end."""
        self._streaming = True
        self._state.begun(self._loop.time(), ahead=bool(self._messages))
        self._watch()

    def end(self, *, keep: bool) -> None:
        """The response was sent; *keep* the connection for another request."""
        self._busy = self._streaming = False
        self._deadline = None
        # While pipelined requests wait, new bytes belong to them and are not a new head.
        if not (keep and self._messages):
            self._state.ended(self._loop.time(), keep=keep)
            # The parser may hold a part of another request, unless it cannot have been given one.
            if self._body_bytes is not None and self._state.has_had_just(self._body_bytes):
                self._has_part = False
                self._rest_at = self._loop.time() + self._limits.rest_s
        if self._lost:
            self._has_gone()
            return
        self._watch()
        if self.draining:
            self.force_close()

    # --- from the server -------------------------------------------------------------------------
    @property
    def made(self) -> bool:
        """Whether the connection ever reached the HTTP protocol."""
        return self._wire is not None or self._lost

    @property
    def idle_until(self) -> float | None:
        """When it times out between requests; None during a request, or when it ends anyway."""
        idle = self._state.phase is Phase.IDLE and self._wire is not None
        return self._state.due if idle and self.dropped is None else None

    def drain(self) -> None:
        """End after the current request, or at once when there is none, or it has no end.

        Who has sent a part of one, or has just connected, may send the rest where callers are waited for.
        """
        self.draining = True
        is_awaited = self._limits.linger_s > 0.0 and self._state.phase is Phase.HEAD
        if self._streaming or not (self._busy or is_awaited):
            self._count(DropReason.DRAINED)
            self.force_close()

    def drop(self, reason: DropReason) -> None:
        """End the connection now, whatever is still to be sent."""
        self._count(reason)
        if self._wire is not None:
            self._wire.abort()

    # --- from the event loop ---------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = cast("asyncio.Transport", transport)
        self._state = ConnectionState(self._limits, self._loop.time())
        self._watch()

    def data_received(self, data: bytes) -> None:
        match self._state.received(data, self._loop.time()):
            case None:
                self._parse(data)
                self._watch()
            case DropReason.HEAD_TOO_LARGE:
                self._refuse_head()
            case reason:
                self.drop(reason)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._lost = True
        if self._timer is not None:
            self._timer.cancel()
        super().connection_lost(exc)
        if not self._busy:
            self._has_gone()

    def _has_gone(self) -> None:
        """It is closed *and* its last handler has ended: before, it counts for the cap on connections, so that callers
        who connect and leave cannot accumulate handlers beyond that."""
        raise NotImplementedError

    # --- from aiohttp ----------------------------------------------------------------------------
    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer what is not HTTP. The pipeline answers all other errors, so none comes here."""
        status = 431 if isinstance(exc, LineTooLong) else status
        self._count(DropReason.HEAD_TOO_LARGE if status == 431 else DropReason.BAD_REQUEST)
        self._refused(status, type(exc).__name__)
        self.close()
        error = "this is not a request that can be answered"
        answer = error_response(status, error, error_details=self._error_details)
        answer.headers["Server"] = names.PREFIX
        answer.force_close()
        return answer

    def _refuse_head(self) -> None:
        self._count(DropReason.HEAD_TOO_LARGE)
        self._refused(431, None)
        if self._wire is not None:
            status = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            error = f"the head of the request has more than {self._limits.head_bytes} bytes"
            self._wire.write(early_response(status, error, error_details=self._error_details))
        self.force_close()

    def _refused(self, status: int, error: str | None) -> None:
        self._traffic.answered(
            ServedRequest(
                method="other",
                path="",
                status=status,
                body_bytes=0,
                seconds=0.0,
                peer=self.peer,
                error=error,
            )
        )
        self._state.ended(self._loop.time(), keep=False)
        self._watch()

    def _count(self, reason: DropReason) -> None:
        if self.dropped is None:
            self.dropped = reason
            self._traffic.dropped(reason)

    # --- time ------------------------------------------------------------------------------------
    def _is_free(self) -> bool:
        """Whether nothing is under way, and nothing waits to be sent, so that an answer is the next one."""
        wire = self._wire
        return (
            self._state.is_at_rest
            and not self.draining
            and wire is not None
            and not wire.get_write_buffer_size()
        )

    def _watch(self) -> None:
        """Set the timer for the time that is due. An earlier timer stays: it will set the next."""
        due = min(self._state.due, self._rest_at)
        if self._timer is not None:
            if self._timer_at <= due:
                return
            self._timer.cancel()
        self._timer, self._timer_at = self._loop.call_at(due, self._wake), due

    def _wake(self) -> None:
        self._timer = None
        if self._loop.time() >= self._rest_at:
            self._rest_at = math.inf
            if self._parsing and not self._busy and self._is_free():
                self._rest_or_later()
        reason = self._state.overdue(self._loop.time())
        if reason is DropReason.REQUEST_DEADLINE and self._deadline is not None:
            self._count(reason)
            self._deadline.reschedule(self._loop.time())
            self._deadline = None
        elif reason is not None:
            self.drop(reason)
            return
        self._watch()
