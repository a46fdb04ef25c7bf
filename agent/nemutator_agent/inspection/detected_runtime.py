"""What an inspection found, and the one line in which the worker says it."""

import json
import re
import typing
from dataclasses import dataclass

from nemutator_common.wire import Runtime

from nemutator_agent.inspection.failures import InvalidAnswerError

LONGEST_ANSWER = 1024

_RUNTIMES = frozenset(typing.get_args(Runtime))
# As Go writes it (`go1.26.8`, `devel go1.27-1a2b3c Tue Mar 3 …`), or a number with dots.
_VERSION = re.compile(r"[A-Za-z0-9](?:[ -~]{0,126}[!-~])?")


@dataclass(frozen=True, slots=True)
class DetectedRuntime:
    """What an executable runs on; the version only where it is evident."""

    runtime: Runtime | None
    version: str | None
    script: str | None = None
    """What its interpreter runs, by the command line of one process. No worker says so."""


UNKNOWN = DetectedRuntime(None, None)


def is_version(text: str) -> bool:
    return _VERSION.fullmatch(text) is not None


def encode(detected: DetectedRuntime) -> bytes:
    return json.dumps([detected.runtime, detected.version]).encode()


def decode(answer: bytes) -> DetectedRuntime:
    """Believe nothing that `encode` could not have written."""
    if len(answer) > LONGEST_ANSWER:
        raise InvalidAnswerError("the answer is too long")
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        raise InvalidAnswerError("the answer is not JSON") from None
    if not isinstance(value, list) or len(value) != 2:
        raise InvalidAnswerError("expected two values")
    runtime, version = value
    if runtime is not None and not (isinstance(runtime, str) and runtime in _RUNTIMES):
        raise InvalidAnswerError("expected a runtime that we know")
    if version is not None and not (isinstance(version, str) and is_version(version)):
        raise InvalidAnswerError("expected a version")
    return DetectedRuntime(typing.cast("Runtime | None", runtime), version)
