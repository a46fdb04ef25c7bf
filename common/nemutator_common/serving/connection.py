"""One connection, with answers that need neither aiohttp's parser nor a task of its own."""

import asyncio
import contextlib
import math
import os
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from nemutator_common.serving.accepted_peer import AcceptedPeer
from nemutator_common.serving.connection_state import DropReason
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
from nemutator_common.serving.responses import ErrorDetails
from nemutator_common.serving.timed_connection import TimedConnection
from nemutator_common.serving.token_requests import (
    MOST_BODY_BYTES,
    TokenHead,
    TokenRequest,
    parse_token_head,
)
from nemutator_common.serving.traffic import Traffic


def accepted_peer_of(request: web.BaseRequest) -> AcceptedPeer | None:
    """What the listener's `accept_peer` made of the caller of *request*."""
    connection = request.protocol
    assert isinstance(connection, Connection)
    return connection.accepted_peer


class Connection(TimedConnection):
    """A connection whose requests are answered without aiohttp where *plain* or *later* can."""

    __slots__ = (
        "_ahead",
        "_answering",
        "_certificate",
        "_descriptor",
        "_fd",
        "_gone",
        "_later",
        "_plain",
        "_post",
        "_remote",
        "_whole",
        "accepted_peer",
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
        """*descriptor*: of the socket, where answers are written to it as they are. *gone* is called once it is closed
        and nothing of it goes on any more."""
        super().__init__(
            server, peer=peer, limits=limits, traffic=traffic, error_details=error_details
        )
        self._gone = gone
        self.accepted_peer = accepted_peer
        """What was learnt about the caller at accept time; it is closed with the connection."""
        self.uid = uid
        """The user whose share of the connections this one belongs to."""
        self._plain = plain
        self._later = later
        self._answering: asyncio.Task[bool] | None = None
        self._ahead = b""
        """What came while an answer was awaited, of the next request."""
        self._post: ArrivingPost[PostHead | TokenHead] | None = None
        self._whole = False
        """Whether the bytes at hand are a post, and all of it."""
        self._descriptor = descriptor
        self._fd: int | None = None
        """The socket's own, for answers that are written at once. It is the loop's, which closes it."""
        self._remote = ""
        self._certificate: Mapping[str, Any] | None = None
        """Of whom is at the other end, which stays as it was made."""

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
            self._has_gone()
            return
        self._watch()
        if not keep or self.draining:
            self.force_close()
        elif self._ahead and self._wire is not None:
            ahead, self._ahead = self._ahead, b""
            self._wire.resume_reading()
            self.data_received(ahead)

    # --- from the server -------------------------------------------------------------------------
    def drop(self, reason: DropReason) -> None:
        self._fd = None
        super().drop(reason)

    # --- from the event loop ---------------------------------------------------------------------
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._fd = self._descriptor
        self._remote = _address_of(transport)
        self._certificate = transport.get_extra_info("peercert")
        super().connection_made(transport)

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
        super().data_received(data)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._fd = self._post = None
        if self._answering is not None:
            self._answering.cancel()
        super().connection_lost(exc)

    def _has_gone(self) -> None:
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
        now = self._loop.time()
        if isinstance(head, TokenHead):
            assert self._later is not None
            answering = self._later.begin(TokenRequest(head, body, self._remote), self)
            if answering is None:
                return False
            self._busy, self._rest_at = True, math.inf
            self._state.begun(now)
            self._answering = answering
            answering.add_done_callback(self._answered_later)
            return True
        assert self._plain is not None
        post = PlainPost(head.path, body, self._remote, self._certificate, head.trace_parent)
        if not self._plain.answer_post(post, self.peer, self._send):
            return False
        self._state.ended(now, keep=True)
        return True

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

    def _wake(self) -> None:
        if self._post is None or self._loop.time() < self._state.due:
            super()._wake()
            return
        # Its sender is slow, and hears so from the pipeline, which waits for a while itself.
        self._timer = None
        arriving, self._post, self._has_part = self._post, None, True
        self._state.expects(self._loop.time())
        super().data_received(arriving.received)


def _address_of(wire: asyncio.BaseTransport) -> str:
    """As aiohttp says it to handlers."""
    peer = wire.get_extra_info("peername")
    return str(peer[0] if isinstance(peer, list | tuple) else peer or "")
