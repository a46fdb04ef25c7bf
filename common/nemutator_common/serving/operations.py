"""What a process answers about itself: whether it lives, whether it is ready, what it has counted."""

import json
from dataclasses import dataclass
from typing import Literal

from nemutator_common.meters import ScrapedMeter
from nemutator_common.readiness import Readiness

Operation = Literal["healthz", "readyz", "metrics"]

ALL_OPERATIONS: frozenset[Operation] = frozenset({"healthz", "readyz", "metrics"})

_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class OperationResponse:
    status: int
    content_type: str
    body: bytes


def respond(
    operation: Operation, readiness: Readiness, meter: ScrapedMeter, *, as_json: bool = False
) -> OperationResponse:
    """The response to *operation*; `/healthz` proves by being answered that the event loop runs."""
    match operation:
        case "healthz":
            return OperationResponse(200, _TEXT, b"ok\n")
        case "metrics":
            return OperationResponse(200, meter.content_type, meter.exposition())
        case "readyz":
            return _readyz(readiness, as_json=as_json)


def _readyz(readiness: Readiness, *, as_json: bool) -> OperationResponse:
    problems, notes = readiness.problems(), readiness.notes()
    status = 503 if problems else 200
    if as_json:
        content = {"ready": not problems, "problems": dict(problems), "notes": dict(notes)}
        body = json.dumps(content).encode()
        return OperationResponse(status, "application/json; charset=utf-8", body)
    lines = [f"{part}: {why}" for part, why in problems.items()] or ["ready"]
    lines += [f"note: {part}: {what}" for part, what in notes.items()]
    return OperationResponse(status, _TEXT, "".join(f"{line}\n" for line in lines).encode())
