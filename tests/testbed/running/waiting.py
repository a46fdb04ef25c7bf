"""The one place where the testbed looks again and again until something holds."""

import time
from collections.abc import Callable

FIRST_S, LAST_S = 0.02, 2.0
SHARE = 0.05
"""Of the time that it took so far: whoever waits long takes no CPU from what they wait for."""


class NotInTimeError(Exception):
    """Something did not come to hold within its time."""


def until(holds: Callable[[], object], what: str, *, within_s: float) -> None:
    """Return once *holds* is true; raise NotInTimeError that names *what* when it never is."""
    began = time.monotonic()
    while not holds():
        waited = time.monotonic() - began
        if waited > within_s:
            raise NotInTimeError(f"{what}: not within {within_s:g} s")
        time.sleep(min(max(FIRST_S, SHARE * waited), LAST_S))
