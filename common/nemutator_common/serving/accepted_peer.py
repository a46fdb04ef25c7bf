"""What a listener may learn about a caller before the first byte is read."""

from typing import Protocol


class AcceptedPeer(Protocol):
    """The caller of one connection; `accepted_peer_of(request)` gives it to handlers."""

    @property
    def shown(self) -> str:
        """As lines of the log show it."""
        ...

    def close(self) -> None:
        """Called when the connection is closed and its last handler has ended."""
        ...
