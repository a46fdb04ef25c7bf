"""The brain as its writers see it, and the ways in which a call to it can fail."""

from typing import Protocol

from nemutator_common.wire import Ack


class LinkError(Exception):
    """A call to the brain failed: *reason* is one of a few fixed words, *why* is for people."""

    def __init__(self, reason: str, why: str) -> None:
        super().__init__(why)
        self.reason = reason


class LinkUnavailableError(LinkError):
    """Trying again later may help; the brain may say how much later."""

    def __init__(self, reason: str, why: str, *, retry_after_s: float = 0.0) -> None:
        super().__init__(reason, why)
        self.retry_after_s = retry_after_s


class BatchRefusedError(LinkError):
    """The brain will never take this batch, however often it is sent."""


class Link(Protocol):
    """Takes the batches of one stream.

    Every call may raise LinkUnavailableError; the caller sets its deadline.
    """

    async def position(self, *, writer: str, epoch: str) -> Ack:
        """What the brain has stored of *epoch* so far."""
        ...

    async def send(self, batch: bytes) -> Ack:
        """Hand over an encoded batch; BatchRefusedError when it is wrong in itself."""
        ...
