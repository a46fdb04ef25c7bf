"""Why a profile is not made, for the person who asked for it."""

from typing import Literal, get_args

Reason = Literal[
    "busy", "cgroup", "gone", "heap", "internal", "kernel", "libbpf", "request", "rights", "symbols"
]
"""They are few and fixed, because they are labels of a metric."""

REASONS: tuple[Reason, ...] = get_args(Reason)


class ProfileRefused(Exception):  # noqa: N818 - an answer, not a failure
    """No profile is made: *what* stands in the way, and the *remedy*."""

    def __init__(self, reason: Reason, what: str, *, remedy: str) -> None:
        super().__init__(f"{what}; {remedy}")
        self.reason = reason
        self.what = what
        self.remedy = remedy


def gone(what: str) -> ProfileRefused:
    """The target of this name is not there (any more)."""
    return ProfileRefused(
        "gone", f"{what} is not running on this node", remedy="ask for a live one"
    )
