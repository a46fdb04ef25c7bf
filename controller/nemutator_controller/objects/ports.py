"""What features need that keep large contents."""

from typing import Protocol


class ObjectStore(Protocol):
    """Keys are words of letters, digits, dots and dashes with slashes between. Each call may raise
    `StoreUnavailableError`."""

    async def put(self, key: str, content: bytes) -> None:
        """Keep *content* in the place of what was there under *key*; returns when it is kept."""
        ...

    async def get(self, key: str) -> bytes | None:
        """What is kept under *key*; None: nothing."""
        ...

    async def remove(self, key: str) -> None:
        """Keep nothing under *key*. That nothing was there is no failure."""
        ...
