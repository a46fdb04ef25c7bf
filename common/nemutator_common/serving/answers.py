"""Answers that every listener gives alike: errors as JSON, and the three operations."""

import json
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Literal

from aiohttp import web

from nemutator_common import names
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.meters import ScrapedMeter
from nemutator_common.readiness import Readiness

Operation = Literal["healthz", "readyz", "metrics"]

Remarks = Mapping[int, Mapping[str, str]]
"""By status, what a listener has to say where it refuses by itself: a remedy, other words."""

_UNCACHED = {"Cache-Control": "no-store"}

# The caller's mistake, as far as one request can make it; all others are ours to repair.
_CALLERS_MISTAKES = frozenset({ExitCode.USAGE, ExitCode.SETTINGS})


class RoutineAnswer(web.Response):
    """Its request is worth a line only to who debugs: a probe, or the handler has told more."""


def error_answer(
    status: int, error: str, *, remarks: Remarks | None = None, **more: str
) -> web.Response:
    said = (remarks or {}).get(status, {})
    return web.json_response({"error": error, **more, **said}, status=status)


def early_answer(status: HTTPStatus, error: str, *, remarks: Remarks) -> bytes:
    """An answer, and the end, to whoever has not got as far as a request."""
    body = json.dumps({"error": error, **remarks.get(status, {})}).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}",
        "Content-Type: application/json; charset=utf-8",
        f"Content-Length: {len(body)}",
        "Connection: close",
        f"Server: {names.PREFIX}",
    )
    return "".join(f"{line}\r\n" for line in (*head, "")).encode() + body


def operator_error_answer(error: OperatorError) -> web.Response:
    status = 400 if error.code in _CALLERS_MISTAKES else 503
    return error_answer(status, error.what, remedy=error.remedy)


def http_exception_answer(
    exception: web.HTTPException, *, remarks: Remarks | None = None
) -> web.Response:
    """The same answer as a plain one; an error that is not JSON yet becomes JSON."""
    headers = exception.headers.copy()
    text = exception.text
    if exception.status >= 400 and exception.content_type != "application/json":
        headers.popall("Content-Type", None)
        # aiohttp's default text repeats the number: `404: Not Found`.
        plain = text is None or text == f"{exception.status}: {exception.reason}"
        error = exception.reason.lower() if plain else text
        text = json.dumps({"error": error, **(remarks or {}).get(exception.status, {})})
        headers["Content-Type"] = "application/json; charset=utf-8"
    headers.popall("Content-Length", None)
    body = text.encode() if text else None
    return web.Response(status=exception.status, headers=headers, body=body)


def operations(
    served: frozenset[Operation], *, readiness: Readiness, meter: ScrapedMeter
) -> Mapping[str, Callable[[web.BaseRequest], web.Response]]:
    """The answer to each path that is an operation of this listener."""

    def healthz(_: web.BaseRequest) -> web.Response:
        return RoutineAnswer(text="ok\n", headers=_UNCACHED)

    def readyz(request: web.BaseRequest) -> web.Response:
        problems = readiness.problems()
        status = 503 if problems else 200
        if "application/json" in request.headers.get("Accept", ""):
            content = {"ready": not problems, "problems": dict(problems)}
            return RoutineAnswer(
                text=json.dumps(content),
                status=status,
                headers=_UNCACHED,
                content_type="application/json",
            )
        lines = [f"{part}: {why}" for part, why in problems.items()] or ["ready"]
        text = "".join(f"{line}\n" for line in lines)
        return RoutineAnswer(text=text, status=status, headers=_UNCACHED)

    def metrics(_: web.BaseRequest) -> web.Response:
        headers = {**_UNCACHED, "Content-Type": meter.content_type}
        return RoutineAnswer(body=meter.exposition(), headers=headers)

    known = {"healthz": healthz, "readyz": readyz, "metrics": metrics}
    return {f"/{name}": answer for name, answer in known.items() if name in served}
