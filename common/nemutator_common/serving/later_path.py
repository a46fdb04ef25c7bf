"""Answers requests of our own processes without the HTTP parser and a router, where it may take a while until there is an answer.

All that a caller can tell is as on the way of all requests: deadlines, errors as JSON, one log line.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from email.utils import formatdate
from functools import lru_cache
from http import HTTPStatus
from typing import Protocol

from aiohttp import web

from nemutator_common import logs, names
from nemutator_common.errors import OperatorError
from nemutator_common.serving.connection_state import DropReason
from nemutator_common.serving.request_names import next_request_name
from nemutator_common.serving.responses import (
    ErrorDetails,
    error_response,
    operator_error_response,
)
from nemutator_common.serving.token_requests import TokenRequest
from nemutator_common.serving.traffic import CLIENT_GONE, ServedRequest, Traffic

log = logging.getLogger(__name__)

LaterHandler = Callable[[TokenRequest], Awaitable[web.Response] | None]
"""None, if the routes have to answer; then nothing may have happened."""


class WaitingCaller(Protocol):
    peer: str
    draining: bool
    dropped: DropReason | None

    def due_by(self, deadline: asyncio.Timeout) -> None:
        """*deadline* is rescheduled to now when the time of the request is over."""
        ...

    def answer_later(self, answer: bytes) -> bool:
        """Send all of it; False: the caller has gone."""
        ...


@dataclass(frozen=True, slots=True)
class LaterPath:
    handler: LaterHandler
    traffic: Traffic
    error_details: ErrorDetails
    tasks: asyncio.TaskGroup

    def begin(self, request: TokenRequest, caller: WaitingCaller) -> asyncio.Task[bool] | None:
        """Begin to answer: whether the connection may be used again, at the end. None: the pipeline has to answer."""
        try:
            answer = self.handler(request)
        except Exception as error:
            log.error("request_failed", {names.ERROR: type(error).__name__}, exc_info=error)
            return None
        if answer is None:
            return None
        return self.tasks.create_task(self._answer(request, answer, caller), name="later answer")

    async def _answer(
        self, request: TokenRequest, answer: Awaitable[web.Response], caller: WaitingCaller
    ) -> bool:
        started, identity = time.monotonic(), next_request_name()
        sent, error = None, None
        with logs.bound({names.REQUEST: identity}):
            try:
                response, error, is_last = await self._in_time(answer, caller, identity)
                keep = not (is_last or caller.draining)
                try:
                    written = _written(response, keep=keep)
                except (TypeError, ValueError) as failure:
                    # Like on the other way, nothing follows what could not be said.
                    response, error = self._failed(failure, identity)
                    keep, written = False, _written(response, keep=False)
                if caller.answer_later(written):
                    sent = response
                return keep and sent is not None
            finally:
                self._count(request, sent, error, time.monotonic() - started, caller)

    async def _in_time(
        self, answer: Awaitable[web.Response], caller: WaitingCaller, identity: str
    ) -> tuple[web.Response, str | None, bool]:
        """The response, what was wrong, and whether the connection ends with it."""
        try:
            async with asyncio.timeout(None) as deadline:
                caller.due_by(deadline)
                return *await self._made(answer, identity), False
        except TimeoutError:
            what = "the answer took too long"
            return error_response(503, what, error_details=self.error_details), what, True

    async def _made(
        self, answer: Awaitable[web.Response], identity: str
    ) -> tuple[web.Response, str | None]:
        try:
            return await answer, None
        except OperatorError as error:
            return operator_error_response(error), error.what
        except Exception as error:  # noqa: BLE001 - a defect of one handler ends no other request
            return self._failed(error, identity)

    def _failed(self, error: Exception, identity: str) -> tuple[web.Response, str]:
        what = type(error).__name__
        log.error("request_failed", {names.ERROR: what}, exc_info=error)
        details = self.error_details
        response = error_response(500, "internal error", error_details=details, request=identity)
        return response, what

    def _count(
        self,
        request: TokenRequest,
        sent: web.Response | None,
        error: str | None,
        seconds: float,
        caller: WaitingCaller,
    ) -> None:
        if error is None and sent is None and caller.dropped is not None:
            # Otherwise the line would blame the caller for a connection that we ended.
            error = caller.dropped.value
        self.traffic.answered(
            ServedRequest(
                method=request.head.method,
                path=request.head.path,
                status=CLIENT_GONE if sent is None else sent.status,
                body_bytes=0 if sent is None else len(_body(sent)),
                seconds=seconds,
                peer=caller.peer,
                error=error,
            )
        )


def _body(response: web.Response) -> bytes:
    body = b"" if response.body is None else response.body
    if not isinstance(body, bytes):
        raise TypeError(f"a response with {type(body).__name__} cannot be sent on this way")
    return body


def _written(response: web.Response, *, keep: bool) -> bytes:
    body = _body(response)
    head = _head(response.status, tuple(response.headers.items()), keep)
    return b"%b%d%b%b" % (head, len(body), _date(int(time.time())), body)


@lru_cache(maxsize=64)
def _head(status: int, headers: tuple[tuple[str, str], ...], keep: bool) -> bytes:
    lines = [
        f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
        *(f"{name}: {value}" for name, value in headers if name.lower() != "content-length"),
        f"Server: {names.PREFIX}",
    ]
    if not keep:
        lines.append("Connection: close")
    if any("\r" in line or "\n" in line for line in lines):
        raise ValueError("a header has more than one line")
    return "\r\n".join((*lines, "Content-Length: ")).encode()


@lru_cache(maxsize=2)
def _date(second: int) -> bytes:
    """The end of the head."""
    return f"\r\nDate: {formatdate(second, usegmt=True)}\r\n\r\n".encode("ascii")
