"""Answers plain requests at once, without the HTTP parser, a task and a router for each of them.

A handler here gives only answers that it has at hand. All others, refusals and errors included, are
made by the request pipeline, which is asked as if nobody had been asked before.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache, partial
from typing import NamedTuple

from nemutator_common import logs, names
from nemutator_common.serving.accepted_peer import AcceptedPeer
from nemutator_common.serving.plain_posts import PlainPost
from nemutator_common.serving.plain_requests import PlainRequest
from nemutator_common.serving.request_names import next_request_name
from nemutator_common.serving.traffic import PlainMethod, Traffic

log = logging.getLogger(__name__)


class PlainAnswer(NamedTuple):
    """An answer with status 200, whose request is logged for debugging only."""

    body: bytes
    content_type: str
    headers: str = ""
    """Further lines, each with its end."""
    record: Callable[[], None] = lambda: None
    """Called as soon as it is sent, before anything else happens: the caller need not wait for that."""


PlainHandler = Callable[[PlainRequest, AcceptedPeer | None], PlainAnswer | None]
"""None, if it takes more than a moment or a refusal; then nothing may have happened."""

PostHandler = Callable[[PlainPost], PlainAnswer | None]
"""The same for posts."""


@dataclass(frozen=True, slots=True)
class PlainPath:
    traffic: Traffic
    handler: PlainHandler | None = None
    post_handler: PostHandler | None = None

    def answer(
        self,
        request: PlainRequest,
        accepted_peer: AcceptedPeer | None,
        peer: str,
        send: Callable[[bytes], None],
    ) -> bool:
        """*send* all bytes of the answer; False, and nothing is sent, when the pipeline has to answer."""
        if self.handler is None:
            return False
        return self._answered(
            "GET", request.path, partial(self.handler, request, accepted_peer), peer, send
        )

    def answer_post(self, post: PlainPost, peer: str, send: Callable[[bytes], None]) -> bool:
        """The same."""
        assert self.post_handler is not None
        return self._answered("POST", post.path, partial(self.post_handler, post), peer, send)

    def _answered(
        self,
        method: PlainMethod,
        path: str,
        handle: Callable[[], PlainAnswer | None],
        peer: str,
        send: Callable[[bytes], None],
    ) -> bool:
        started = time.monotonic()
        with logs.bound({names.REQUEST: next_request_name()}):
            try:
                answer = handle()
            except Exception as error:
                log.error("request_failed", {names.ERROR: type(error).__name__}, exc_info=error)
                return False
            if answer is None:
                return False
            try:
                send(_written(answer))
            finally:
                # Whatever becomes of the connection: it may have reached the caller.
                answer.record()
            seconds = time.monotonic() - started
            self.traffic.answered_plainly(method, path, answer.body, seconds, peer)
        return True


def _written(answer: PlainAnswer) -> bytes:
    head = _head(answer.headers, answer.content_type)
    date = _date(int(time.time()))
    return b"%b%d%b%b" % (head, len(answer.body), date, answer.body)


@lru_cache(maxsize=64)
def _head(headers: str, content_type: str) -> bytes:
    return (
        f"HTTP/1.1 200 OK\r\n{headers}Content-Type: {content_type}\r\n"
        f"Server: {names.PREFIX}\r\nContent-Length: "
    ).encode("ascii")


@lru_cache(maxsize=2)
def _date(second: int) -> bytes:
    """The end of the head."""
    return f"\r\nDate: {formatdate(second, usegmt=True)}\r\n\r\n".encode("ascii")
