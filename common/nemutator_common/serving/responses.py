"""Responses that every listener gives alike: errors as JSON, and the three operations."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus

from aiohttp import web

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process
from nemutator_common.serving.operations import Operation, respond

ErrorDetails = Mapping[int, Mapping[str, str]]
"""What a listener adds to its own error responses, by status: a remedy, or another text."""

_UNCACHED = {"Cache-Control": "no-store"}

# These are mistakes of the caller, as far as one request can make them; we must mend all others.
_CALLERS_MISTAKES = frozenset({ExitCode.USAGE, ExitCode.SETTINGS})


class RoutineResponse(web.Response):
    """A response whose request is logged for debugging only: it is a probe, or the handler has
    logged more."""


def error_response(
    status: int, error: str, *, error_details: ErrorDetails | None = None, **more: str
) -> web.Response:
    details = (error_details or {}).get(status, {})
    return web.json_response({"error": error, **more, **details}, status=status)


def early_response(status: HTTPStatus, error: str, *, error_details: ErrorDetails) -> bytes:
    """A response for a caller whose request was never read; the connection ends with it."""
    body = json.dumps({"error": error, **error_details.get(status, {})}).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: application/json; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Connection: close",
        f"Server: {names.PREFIX}",
    )
    return "".join(f"{line}\r\n" for line in (*head, "")).encode() + body


def operator_error_response(error: OperatorError) -> web.Response:
    if error.code is ExitCode.NO_SPACE:
        status = HTTPStatus.INSUFFICIENT_STORAGE
    elif error.code in _CALLERS_MISTAKES:
        status = HTTPStatus.BAD_REQUEST
    else:
        status = HTTPStatus.SERVICE_UNAVAILABLE
    return error_response(status, error.what, remedy=error.remedy)


def http_exception_response(
    exception: web.HTTPException, *, error_details: ErrorDetails | None = None
) -> web.Response:
    """*exception* as an ordinary response; an error that is not JSON yet becomes JSON."""
    headers = exception.headers.copy()
    text = exception.text
    if exception.status >= 400 and exception.content_type != "application/json":
        headers.popall("Content-Type", None)
        # aiohttp's default text repeats the number: `404: Not Found`.
        plain = text is None or text == f"{exception.status}: {exception.reason}"
        error = exception.reason.lower() if plain else text
        text = json.dumps({"error": error, **(error_details or {}).get(exception.status, {})})
        headers["Content-Type"] = "application/json; charset=utf-8"
    headers.popall("Content-Length", None)
    body = text.encode() if text else None
    return web.Response(status=exception.status, headers=headers, body=body)


def operations(
    served: frozenset[Operation], process: Process
) -> Mapping[str, Callable[[web.BaseRequest], web.Response]]:
    """The handler of each path that is an operation of this listener."""

    def handler(operation: Operation) -> Callable[[web.BaseRequest], web.Response]:
        def answer(request: web.BaseRequest) -> web.Response:
            as_json = "application/json" in request.headers.get("Accept", "")
            response = respond(operation, process.readiness, process.meter, as_json=as_json)
            headers = {**_UNCACHED, "Content-Type": response.content_type}
            return RoutineResponse(body=response.body, status=response.status, headers=headers)

        return answer

    return {f"/{operation}": handler(operation) for operation in served}
