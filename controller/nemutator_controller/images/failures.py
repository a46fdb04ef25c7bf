"""Why an image could not be read."""

from typing import Literal

Reason = Literal[
    "not_allowed",
    "name",
    "unreachable",
    "timeout",
    "busy",
    "denied",
    "pull_secret",
    "missing",
    "invalid",
    "digest",
    "too_large",
    "differs",
]

OF_REGISTRY: frozenset[Reason] = frozenset({"unreachable", "timeout", "busy"})
"""What all images of a registry share."""


class ImageUnreadableError(Exception):
    """The text is for who creates a pod of that image; it has nothing of what a registry has sent."""

    def __init__(
        self, reason: Reason, why: str, *, retry_after_s: float = 0.0, digest: str = ""
    ) -> None:
        super().__init__(why)
        self.reason = reason
        self.retry_after_s = retry_after_s
        self.digest = digest
        """Of an image that is there, while what it starts cannot be told; empty: it is not known."""
