"""What a row of history is of."""

from collections.abc import Hashable
from typing import Protocol


class RowKey(Hashable, Protocol):
    """One container of all pods of an owner; outside of a cluster a unit, a container or a program."""

    @property
    def namespace(self) -> str: ...

    @property
    def owner_kind(self) -> str: ...

    @property
    def owner(self) -> str: ...

    @property
    def container(self) -> str: ...
