"""What a listener may learn of a caller before the first byte is read."""

from typing import Protocol


class AcceptedPeer(Protocol):
    """Belongs to one connection: `accepted_peer_of(request)` gives it to handlers."""

    def close(self) -> None:
        """The connection is gone, and its last handler has ended."""
        ...
