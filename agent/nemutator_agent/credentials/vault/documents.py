"""What Vault holds at one place, wrapped so that nobody sees it by accident."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from nemutator_common.secret import Secret


@dataclass(frozen=True, slots=True)
class EngineMount:
    """Where a secret engine of kind KV begins, and which of its two forms it has."""

    path: str
    """Ends with a slash."""
    version: Literal[1, 2]


@dataclass(frozen=True, slots=True)
class Document:
    """All that lies at one place, as one version."""

    content: Secret
    """A JSON object."""
    version: int | None
    """None in engines that keep one version only."""

    @classmethod
    def of(cls, data: Mapping[str, Any], version: int | None) -> Self:
        return cls(Secret(json.dumps(data, ensure_ascii=False, separators=(",", ":"))), version)

    @property
    def size(self) -> int:
        return len(self.content.reveal().encode())

    def keys(self) -> tuple[str, ...]:
        return tuple(self.data())

    def data(self) -> dict[str, Any]:
        """Plain values: for the moment in which they are handed over."""
        data: dict[str, Any] = json.loads(self.content.reveal())
        return data

    def value(self, key: str) -> Secret | None:
        """One of the values as text; a value that is not text in Vault is given as JSON."""
        data = self.data()
        if key not in data:
            return None
        value = data[key]
        return Secret(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
