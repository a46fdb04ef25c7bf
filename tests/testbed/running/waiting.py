"""The one place where the testbed looks again and again until something holds."""

import time
from collections.abc import Callable

LOOK_AGAIN_S = 0.02


class NotInTimeError(Exception):
    """Something did not come to hold within its time."""


def until(holds: Callable[[], object], what: str, *, within_s: float) -> None:
    """Return once *holds* is true; raise NotInTimeError that names *what* when it never is."""
    deadline = time.monotonic() + within_s
    while not holds():
        if time.monotonic() > deadline:
            raise NotInTimeError(f"{what}: not within {within_s:g} s")
        time.sleep(LOOK_AGAIN_S)
