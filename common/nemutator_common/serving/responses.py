"""Responses that every listener gives alike: errors as JSON, and the three operations."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Literal

from aiohttp import web

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.process import Process

Operation = Literal["healthz", "readyz", "metrics"]

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
    said = (error_details or {}).get(status, {})
    return web.json_response({"error": error, **more, **said}, status=status)


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

    def healthz(_: web.BaseRequest) -> web.Response:
        return RoutineResponse(text="ok\n", headers=_UNCACHED)

    def readyz(request: web.BaseRequest) -> web.Response:
        problems, notes = process.readiness.problems(), process.readiness.notes()
        status = 503 if problems else 200
        if "application/json" in request.headers.get("Accept", ""):
            content = {"ready": not problems, "problems": dict(problems), "notes": dict(notes)}
            return RoutineResponse(
                text=json.dumps(content),
                status=status,
                headers=_UNCACHED,
                content_type="application/json",
            )
        lines = [f"{part}: {why}" for part, why in problems.items()] or ["ready"]
        lines += [f"note: {part}: {what}" for part, what in notes.items()]
        text = "".join(f"{line}\n" for line in lines)
        return RoutineResponse(text=text, status=status, headers=_UNCACHED)

    def metrics(_: web.BaseRequest) -> web.Response:
        headers = {**_UNCACHED, "Content-Type": process.meter.content_type}
        return RoutineResponse(body=process.meter.exposition(), headers=headers)

    known = {"healthz": healthz, "readyz": readyz, "metrics": metrics}
    return {f"/{name}": answer for name, answer in known.items() if name in served}
