"""One connection: aiohttp's HTTP protocol, with the caps and deadlines that it lacks."""

import asyncio
import contextlib
import math
import os
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

from aiohttp import web
from aiohttp.base_protocol import BaseProtocol
from aiohttp.http_exceptions import LineTooLong

from nemutator_common import names
from nemutator_common.serving.accepted_peer import AcceptedPeer
from nemutator_common.serving.connection_state import ConnectionState, DropReason, Phase
from nemutator_common.serving.later_path import LaterPath
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.plain_path import PlainPath
from nemutator_common.serving.plain_posts import (
    ArrivingPost,
    PlainPost,
    PostHead,
    parse_post_head,
)
from nemutator_common.serving.plain_requests import parse_plain
from nemutator_common.serving.responses import ErrorDetails, early_response, error_response
from nemutator_common.serving.token_requests import (
    MOST_BODY_BYTES,
    TokenHead,
    TokenRequest,
    parse_token_head,
)
from nemutator_common.serving.traffic import ServedRequest, Traffic

# Our own timeouts are shorter, but aiohttp's timer cannot be switched off.
_NEVER_S = 1e7

_SHORTLY_S = 0.01
"""For aiohttp's task to end an answer; a timer that is due at once would be served before it again and again."""


def accepted_peer_of(request: web.BaseRequest) -> AcceptedPeer | None:
    """What the listener's `accept_peer` made of the caller of *request*."""
    connection = request.protocol
    assert isinstance(connection, Connection)
    return connection.accepted_peer


class Connection(web.RequestHandler):
    """A connection that closes itself when `ConnectionState` says so.

    *gone* is called once it is closed *and* its last handler has ended, so that callers who connect
    and leave cannot accumulate handlers beyond the cap on connections.
    """

    __slots__ = (
        "_ahead",
        "_answering",
        "_body_bytes",
        "_busy",
        "_deadline",
        "_descriptor",
        "_error_details",
        "_fd",
        "_gone",
        "_has_part",
        "_later",
        "_limits",
        "_lost",
        "_parsing",
        "_plain",
        "_post",
        "_rest_at",
        "_server",
        "_state",
        "_streaming",
        "_timer",
        "_timer_at",
        "_traffic",
        "_whole",
        "_wire",
        "accepted_peer",
        "draining",
        "dropped",
        "peer",
        "uid",
    )

    def __init__(
        self,
        server: web.Server,
        *,
        peer: str,
        limits: Limits,
        traffic: Traffic,
        error_details: ErrorDetails,
        gone: Callable[["Connection"], None],
        accepted_peer: AcceptedPeer | None = None,
        uid: int | None = None,
        plain: PlainPath | None = None,
        later: LaterPath | None = None,
        descriptor: int | None = None,
    ) -> None:
        """*descriptor*: of the socket, where answers are written to it as they are."""
        # The rest of aiohttp's comes when there is something to parse: most callers need none of it.
        BaseProtocol.__init__(self, asyncio.get_running_loop())
        self._server = server
        self.draining = False
        self.dropped: DropReason | None = None
        """Why we ended the connection, once we have."""
        self.peer = peer
        self.accepted_peer = accepted_peer
        """What was learnt about the caller at accept time; it is closed with the connection."""
        self.uid = uid
        """The user whose share of the connections this one belongs to."""
        self._error_details = error_details
        self._plain = plain
        self._later = later
        self._answering: asyncio.Task[bool] | None = None
        self._ahead = b""
        """What came while an answer was awaited, of the next request."""
        self._has_part = False
        """Whether the parser may hold a part of a request: then what comes next is not the beginning of one."""
        self._post: ArrivingPost[PostHead | TokenHead] | None = None
        self._whole = False
        """Whether the bytes at hand are a post, and all of it."""
        self._parsing = False
        """Whether aiohttp knows of this connection."""
        self._rest_at = math.inf
        """When what it keeps for this connection is given back, unless another request comes."""
        self._limits = limits
        self._traffic = traffic
        self._gone = gone
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
        # aiohttp drops its reference to the transport when it closes it, so that a transport that
        # cannot be flushed would stay open.
        self._wire: asyncio.Transport | None = None
        self._descriptor = descriptor
        self._fd: int | None = None
        """The socket's own, for answers that are written at once. It is the loop's, which closes it."""

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
            self._gone(self)
            return
        self._watch()
        if self.draining:
            self.force_close()

    # --- from the later path ---------------------------------------------------------------------
    def due_by(self, deadline: asyncio.Timeout) -> None:
        self._deadline = deadline

    def answer_later(self, answer: bytes) -> bool:
        if self._wire is None or self._wire.is_closing():
            return False
        self._wire.write(answer)
        return True

    def _answered_later(self, answering: asyncio.Task[bool]) -> None:
        keep = not answering.cancelled() and answering.exception() is None and answering.result()
        self._answering = self._deadline = None
        self._busy = False
        self._state.ended(self._loop.time(), keep=keep)
        if self._lost:
            self._gone(self)
            return
        self._watch()
        if not keep or self.draining:
            self.force_close()
        elif self._ahead and self._wire is not None:
            ahead, self._ahead = self._ahead, b""
            self._wire.resume_reading()
            self.data_received(ahead)

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
        self._fd = None
        if self._wire is not None:
            self._wire.abort()

    # --- from the event loop ---------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._wire = cast("asyncio.Transport", transport)
        self._fd = self._descriptor
        self._state = ConnectionState(self._limits, self._loop.time())
        self._watch()

    def data_received(self, data: bytes) -> None:
        if self._answering is not None:
            # Of who does not wait for an answer no more is read until it has it.
            self._ahead += data
            if self._wire is not None:
                self._wire.pause_reading()
            return
        # aiohttp's parser goes on with what it has when it is given nothing.
        if data and not self._has_part and (self._plain or self._later) is not None:
            if self._later is not None or (self._plain and self._plain.post_handler):
                data = self._posted(data)
            if not data or self._answered(data):
                return
        self._take(data)

    def _take(self, data: bytes) -> None:
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
        self._wire = self._fd = self._post = None
        if self._timer is not None:
            self._timer.cancel()
        if self._answering is not None:
            self._answering.cancel()
        if self._parsing:
            super().connection_lost(exc)
        if not self._busy:
            self._gone(self)

    def _answered(self, data: bytes) -> bool:
        """Answer a plain request at once, if nothing is under way and nothing waits to be sent."""
        request = parse_plain(data) if len(data) <= self._limits.head_bytes else None
        if request is None:
            # A post that the parser has seen as a whole is nothing that it could hold a part of.
            self._has_part = not self._whole
            return False
        plain = self._plain
        if plain is None or not self._is_free():
            return False
        if not plain.answer(request, self.accepted_peer, self.peer, self._send):
            return False
        self._state.ended(self._loop.time(), keep=True)
        self._watch()
        return True

    def _posted(self, data: bytes) -> bytes:
        """Answer a plain post or what our own processes ask, or wait for the rest of it; what comes back is for somebody else."""
        self._whole = False
        arriving, self._post = self._post, None
        if arriving is None:
            head = self._head_of(data) if self._is_free() else None
            if head is None:
                return data
            if len(data) == head.size + head.length:
                self._whole = True
                if not self._is_taken(head, data[head.size :]):
                    return data
                self._watch()
                return b""
            arriving = ArrivingPost(head)
        arriving.add(data)
        if arriving.missing > 0:
            self._post = arriving
            if arriving.is_first_piece:
                self._state.expects(self._loop.time())
                self._watch()
            return b""
        if arriving.missing < 0:
            return arriving.received
        self._whole = True
        if not self._is_free() or not self._is_taken(arriving.head, arriving.body):
            return arriving.received
        self._watch()
        return b""

    def _head_of(self, data: bytes) -> PostHead | TokenHead | None:
        if self._later is not None:
            asked = parse_token_head(data)
            most = min(self._limits.body_bytes, MOST_BODY_BYTES)
            return None if asked is None or asked.length > most else asked
        post = parse_post_head(data)
        return None if post is None or post.length > self._limits.body_bytes else post

    def _is_taken(self, head: PostHead | TokenHead, body: bytes) -> bool:
        """Whether it is answered, or will be."""
        wire = self._wire
        assert wire is not None
        remote, now = _address_of(wire), self._loop.time()
        if isinstance(head, TokenHead):
            assert self._later is not None
            answering = self._later.begin(TokenRequest(head, body, remote), self)
            if answering is None:
                return False
            self._busy, self._rest_at = True, math.inf
            self._state.begun(now)
            self._answering = answering
            answering.add_done_callback(self._answered_later)
            return True
        assert self._plain is not None
        certificate = wire.get_extra_info("peercert")
        post = PlainPost(head.path, body, remote, certificate, head.trace_parent)
        if not self._plain.answer_post(post, self.peer, self._send):
            return False
        self._state.ended(now, keep=True)
        return True

    def _is_free(self) -> bool:
        """Whether nothing is under way, and nothing waits to be sent, so that an answer is the next one."""
        wire = self._wire
        return (
            self._state.is_at_rest
            and not self.draining
            and wire is not None
            and not wire.get_write_buffer_size()
        )

    def _send(self, answer: bytes) -> None:
        """At once, where the loop's own writes wait for the end of its turn. Nothing else waits to be sent."""
        assert self._wire is not None
        sent = 0
        if self._fd is not None:
            # Who has gone, or reads nothing, is the loop's to find out.
            with contextlib.suppress(OSError):
                sent = os.write(self._fd, answer)
        if sent < len(answer):
            self._wire.write(answer[sent:])

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

    # --- from aiohttp ----------------------------------------------------------------------------
    def force_close(self) -> None:
        if self._parsing:
            super().force_close()
        elif self._wire is not None:
            self._wire.close()

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
        if self._post is not None and self._loop.time() >= self._state.due:
            # Its sender is slow, and hears so from the pipeline, which waits for a while itself.
            arriving, self._post, self._has_part = self._post, None, True
            self._state.expects(self._loop.time())
            self._take(arriving.received)
            return
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


def _address_of(wire: asyncio.Transport) -> str:
    """As aiohttp says it to handlers."""
    peer = wire.get_extra_info("peername")
    return str(peer[0] if isinstance(peer, list | tuple) else peer or "")
