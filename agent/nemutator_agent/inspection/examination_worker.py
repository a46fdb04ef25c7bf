"""Answers which runtime an executable has; the file is then closed."""

import functools
import os

from nemutator_agent.inspection.detected_runtime import encode
from nemutator_agent.inspection.examination import examine
from nemutator_agent.inspection.worker import Respond, read_at


def responder() -> Respond:
    return _respond


def _respond(_: bytes, file: int) -> bytes:
    try:
        return encode(examine(functools.partial(read_at, file)))
    finally:
        os.close(file)
