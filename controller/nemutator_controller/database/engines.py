"""What SQLite and PostgreSQL do differently for those who run jobs: a small port."""

from contextlib import AbstractContextManager
from typing import Protocol

from sqlalchemy import Connection

from nemutator_controller.database.failures import Engine, Reason


class Engines(Protocol):
    """Connections that may write, and connections that only read."""

    @property
    def name(self) -> Engine: ...

    @property
    def place(self) -> str:
        """What people are told where the data are; never with a password."""
        ...

    @property
    def readers(self) -> int: ...

    @property
    def tries(self) -> int:
        """How often a write is tried that met one of another brain: each time it reads anew."""
        ...

    @property
    def gives_up_history(self) -> bool:
        """Whether removing old records makes room for new ones."""
        ...

    def writing(self, deadline_s: float) -> AbstractContextManager[Connection]:
        """A transaction, committed at the end. What it reads nobody has changed meanwhile, or it fails."""
        ...

    def reading(self, deadline_s: float) -> AbstractContextManager[Connection]:
        """A snapshot of the last commit."""
        ...

    def reason_of(self, error: BaseException | None) -> Reason:
        """Of an error of the driver."""
        ...

    def close(self) -> None: ...
