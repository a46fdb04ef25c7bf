"""What an inspection found, and how the worker reports it."""

import re
from dataclasses import dataclass

import msgspec
from nemutator_common.wire import Runtime

from nemutator_agent.inspection.failures import InvalidAnswerError

LONGEST_ANSWER = 1024

# As Go writes it (`go1.26.8`, `devel go1.27-1a2b3c Tue Mar 3 …`), or a number with dots.
_VERSION = re.compile(r"[A-Za-z0-9](?:[ -~]{0,126}[!-~])?")


@dataclass(frozen=True, slots=True)
class DetectedRuntime:
    """The runtime of an executable, with its version where that is evident."""

    runtime: Runtime | None
    version: str | None
    script: str | None = None
    """The script that an interpreter runs, from the command line of one process: the worker, which
    sees the file alone, does not know it."""


UNKNOWN = DetectedRuntime(None, None)


def is_version(text: str) -> bool:
    return _VERSION.fullmatch(text) is not None


def encode(detected: DetectedRuntime) -> bytes:
    return msgspec.json.encode(detected)


def decode(answer: bytes) -> DetectedRuntime:
    """Believes nothing that the worker could not have written."""
    if len(answer) > LONGEST_ANSWER:
        raise InvalidAnswerError("the answer is too long")
    try:
        detected = msgspec.json.decode(answer, type=DetectedRuntime)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        raise InvalidAnswerError("the answer does not have the form of one") from None
    if detected.script is not None or not is_version(detected.version or "0"):
        raise InvalidAnswerError("no executable can show this")
    return detected
