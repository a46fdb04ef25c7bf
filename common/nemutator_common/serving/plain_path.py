"""Answers plain requests at once, without the HTTP parser, a task and a router for each of them.

A handler here gives only answers that it has at hand. All others, refusals and errors included, are
made by the request pipeline, which is asked as if nobody had been asked before.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from typing import NamedTuple

from nemutator_common import logs, names
from nemutator_common.serving.accepted_peer import AcceptedPeer
from nemutator_common.serving.plain_requests import PlainRequest
from nemutator_common.serving.request_names import next_request_name
from nemutator_common.serving.traffic import ServedRequest, Traffic

log = logging.getLogger(__name__)


class PlainAnswer(NamedTuple):
    """An answer with status 200, whose request is logged for debugging only."""

    body: bytes
    content_type: str
    headers: str = ""
    """Further lines, each with its end."""


PlainHandler = Callable[[PlainRequest, AcceptedPeer | None], PlainAnswer | None]
"""None, if it takes more than a moment or a refusal; then nothing may have happened."""


@dataclass(frozen=True, slots=True)
class PlainPath:
    handler: PlainHandler
    traffic: Traffic

    def answer(
        self, request: PlainRequest, accepted_peer: AcceptedPeer | None, peer: str
    ) -> bytes | None:
        """All bytes of the answer; None when the pipeline has to answer."""
        started = time.monotonic()
        with logs.bound({names.REQUEST: next_request_name()}):
            try:
                answer = self.handler(request, accepted_peer)
            except Exception as error:
                log.error("request_failed", {names.ERROR: type(error).__name__}, exc_info=error)
                return None
            if answer is None:
                return None
            written = _written(answer)
            self.traffic.answered(
                ServedRequest(
                    method="GET",
                    path=request.path,
                    status=200,
                    body_bytes=len(answer.body),
                    seconds=time.monotonic() - started,
                    peer=peer,
                    routine=True,
                )
            )
        return written


def _written(answer: PlainAnswer) -> bytes:
    head = (
        f"HTTP/1.1 200 OK\r\n{answer.headers}Content-Type: {answer.content_type}\r\n"
        f"Server: {names.PREFIX}\r\nContent-Length: {len(answer.body)}\r\n"
        f"Date: {_date(int(time.time()))}\r\n\r\n"
    )
    return head.encode("ascii") + answer.body


@lru_cache(maxsize=2)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)
