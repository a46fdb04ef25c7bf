"""What the console needs from others."""

from collections.abc import Sequence
from typing import Protocol

from nemutator_controller.console.sessions import Session


class SessionStore(Protocol):
    """Where sessions survive a restart of the brain."""

    async def load(self, *, now: float) -> Sequence[Session]: ...

    async def save(self, session: Session, *, now: float) -> None: ...
