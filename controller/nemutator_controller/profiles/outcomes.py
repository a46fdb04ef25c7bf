"""From an agent's bytes to a `ProfileOutcome` that may be stored and shown."""

import math
import re
from collections.abc import Iterator
from typing import Literal

import msgspec
from nemutator_common.wire import LARGEST_PROFILE_BYTES, ProfileOutcome

from nemutator_controller.ingest.batches import LARGEST_NUMBER, is_clean

OutcomeFlaw = Literal["malformed", "bounds", "text", "number"]

MOST_NOTES = 50
MOST_LOSSES = 32
LONGEST_TEXT = 1000

_ID = re.compile(r"[0-9a-f]{16}")

_decoder = msgspec.json.Decoder(ProfileOutcome)


class InvalidOutcomeError(ValueError):
    def __init__(self, reason: OutcomeFlaw, what: str) -> None:
        super().__init__(what)
        self.reason = reason


def decode(body: bytes) -> ProfileOutcome:
    """The outcome in *body*, with all of its values within bounds."""
    try:
        outcome = _decoder.decode(body)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        raise InvalidOutcomeError("malformed", f"no outcome: {str(error)[:200]}") from error
    if not is_id(outcome.id):
        raise InvalidOutcomeError("text", "id: expected 16 hexadecimal digits")
    if len(outcome.pprof) > LARGEST_PROFILE_BYTES:
        raise InvalidOutcomeError("bounds", f"pprof: more than {LARGEST_PROFILE_BYTES} bytes")
    if (outcome.state == "done") != bool(outcome.pprof):
        raise InvalidOutcomeError("bounds", "pprof: expected when it is done, and only then")
    if len(outcome.notes) > MOST_NOTES or len(outcome.lost or {}) > MOST_LOSSES:
        raise InvalidOutcomeError("bounds", "notes or lost: too many")
    for text in _texts(outcome):
        if len(text) > LONGEST_TEXT:
            raise InvalidOutcomeError("bounds", f"a text is longer than {LONGEST_TEXT} characters")
        if not is_clean(text):
            raise InvalidOutcomeError("text", "a text has control characters")
    for number in _numbers(outcome):
        # Written so that NaN fails too.
        if not 0 <= number <= LARGEST_NUMBER or not math.isfinite(number):
            raise InvalidOutcomeError("number", "a number is out of range")
    return outcome


def is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def _texts(outcome: ProfileOutcome) -> Iterator[str]:
    yield outcome.node
    yield outcome.reason
    yield outcome.remedy
    yield from outcome.notes
    yield from outcome.lost or {}


def _numbers(outcome: ProfileOutcome) -> Iterator[float]:
    yield from (outcome.started_at, outcome.seconds, outcome.hz, outcome.recorded)
    yield outcome.cpu_seconds or 0.0
    yield from (outcome.lost or {}).values()
