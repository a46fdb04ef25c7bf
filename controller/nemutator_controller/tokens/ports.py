"""What reading tokens needs: a store of them."""

from typing import Protocol

from nemutator_controller.tokens.model import TokenTable


class TokenSource(Protocol):
    """A store of tokens. Every method raises `TokenSourceError`, and waits no longer than its own
    deadline, but for `changed`."""

    @property
    def name(self) -> str:
        """What people call it; no secret is in it."""
        ...

    async def read(self) -> TokenTable:
        """All tokens."""
        ...

    async def changed(self) -> bool:
        """Wait for some seconds; then, or earlier, whether it may have changed since it was read."""
        ...

    def close(self) -> None:
        """Let go of what is held open."""
        ...

    async def put(self, key: str, value: str | None) -> None:
        """Set a token, or remove it when *value* is None."""
        ...
