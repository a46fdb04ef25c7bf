"""Names of requests, by which the lines of a log belong together."""

import itertools
import secrets

_PROCESS = secrets.token_hex(4)
_numbers = itertools.count(1)
"""Requests of different processes have different names, too, and none costs a call of the kernel."""


def next_request_name() -> str:
    return f"{_PROCESS}{next(_numbers):08x}"
