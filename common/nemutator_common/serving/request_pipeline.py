"""What every request gets: an id, a deadline, errors as JSON, and one log line at the end."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from aiohttp import web

from nemutator_common import logs, names
from nemutator_common.errors import OperatorError
from nemutator_common.serving.connection import Connection
from nemutator_common.serving.connection_state import DropReason
from nemutator_common.serving.limits import Limits
from nemutator_common.serving.request_names import next_request_name
from nemutator_common.serving.responses import (
    ErrorDetails,
    RoutineResponse,
    error_response,
    http_exception_response,
    operator_error_response,
)
from nemutator_common.serving.traffic import CLIENT_GONE, ServedRequest, Traffic

log = logging.getLogger(__name__)

Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
Operations = Mapping[str, Callable[[web.BaseRequest], web.Response]]


@dataclass(slots=True)
class _Outcome:
    """What the log line will say, even if the caller disconnects before it is written."""

    status: int = CLIENT_GONE
    body_bytes: int = 0
    keep: bool = False
    error: str | None = None
    routine: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestPipeline:
    """Answers requests, first by *operations* and the rest by *inner*.

    It writes the response itself instead of leaving that to aiohttp, so that a caller who reads
    slowly is under the same deadline as a slow handler.
    """

    inner: Handler
    limits: Limits
    operations: Operations
    traffic: Traffic
    error_details: ErrorDetails

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = request.protocol
        assert isinstance(connection, Connection)
        identity = next_request_name()
        outcome = _Outcome()
        started = time.monotonic()
        with logs.bound({names.REQUEST: identity}):
            try:
                return await self._within_deadline(request, connection, outcome, identity)
            finally:
                connection.end(keep=outcome.keep)
                if outcome.error is None and connection.dropped is not None:
                    # Otherwise the line would blame the caller for a connection that we ended.
                    outcome.error = connection.dropped.value
                self.traffic.answered(
                    ServedRequest(
                        method=request.method,
                        path=request.path,
                        status=outcome.status,
                        body_bytes=outcome.body_bytes,
                        seconds=time.monotonic() - started,
                        peer=connection.peer,
                        error=outcome.error,
                        routine=outcome.routine,
                    )
                )

    async def _within_deadline(
        self, request: web.BaseRequest, connection: Connection, outcome: _Outcome, identity: str
    ) -> web.StreamResponse:
        try:
            async with asyncio.timeout(None) as deadline:
                connection.begin(deadline, _body_bytes(request))
                answer = await self._answer(request, outcome, identity)
                try:
                    return await _send(request, answer, outcome)
                except ConnectionError:
                    raise
                except Exception as error:  # noqa: BLE001 - such as an invalid header
                    return await _send(
                        request, self._defect(error, outcome, identity), outcome, close=True
                    )
        except TimeoutError:
            # This can only be the deadline: every other error has been turned into a response.
            late = not request.content.is_eof()
            outcome.error = "the request came too slowly" if late else "the answer took too long"
            answer = error_response(
                408 if late else 503, outcome.error, error_details=self.error_details
            )
            return await _send(request, answer, outcome, close=True)

    async def _answer(
        self, request: web.BaseRequest, outcome: _Outcome, identity: str
    ) -> web.StreamResponse:
        try:
            operation = self.operations.get(request.path)
            if operation is not None:
                if request.method not in {"GET", "HEAD"}:
                    raise web.HTTPMethodNotAllowed(request.method, ["GET", "HEAD"])
                return operation(request)
            if (request.content_length or 0) > self.limits.body_bytes:
                raise web.HTTPRequestEntityTooLarge(self.limits.body_bytes)
            answer = await self.inner(request)
            if not isinstance(answer, web.StreamResponse):
                raise TypeError(f"a handler returned {type(answer).__name__}")
        except web.HTTPException as exception:
            return http_exception_response(exception, error_details=self.error_details)
        except OperatorError as error:
            outcome.error = error.what
            return operator_error_response(error)
        except web.RequestPayloadError:
            outcome.error = "the body is not what its headers say"
            return error_response(400, outcome.error, error_details=self.error_details)
        except Exception as error:
            if isinstance(error, ConnectionError) and request.transport is None:
                raise
            return self._defect(error, outcome, identity)
        return answer

    def _defect(self, error: Exception, outcome: _Outcome, identity: str) -> web.Response:
        outcome.error = type(error).__name__
        log.error("request_failed", {names.ERROR: outcome.error}, exc_info=error)
        return error_response(
            500, "internal error", error_details=self.error_details, request=identity
        )


def _body_bytes(request: web.BaseRequest) -> int | None:
    """As many as the head says; None where only the end of the body will tell."""
    return request.content_length if request.body_exists else 0


async def _send(
    request: web.BaseRequest,
    answer: web.StreamResponse,
    outcome: _Outcome,
    *,
    close: bool = False,
) -> web.StreamResponse:
    """Write all of *answer*; raise `ConnectionError` when that is impossible."""
    connection = request.protocol
    assert isinstance(connection, Connection)
    if not answer.prepared:
        if request.writer.output_size:
            # The handler had begun another response, so we can only show the error by breaking it.
            connection.drop(DropReason.BROKEN_ANSWER)
            raise ConnectionAbortedError("an answer was begun and cannot be completed")
        if close or connection.draining or not request.content.is_eof():
            answer.force_close()
        answer.headers.setdefault("Server", names.PREFIX)
    outcome.status = answer.status
    outcome.routine = isinstance(answer, RoutineResponse)
    await answer.prepare(request)
    await answer.write_eof()
    outcome.body_bytes = answer.content_length or request.writer.output_size
    outcome.keep = bool(answer.keep_alive) and request.content.is_eof()
    return answer
