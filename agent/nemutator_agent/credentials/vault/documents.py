"""What Vault has at one path, wrapped so that it is not shown by accident."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self

from nemutator_common.secret import Secret


@dataclass(frozen=True, slots=True)
class EngineMount:
    """Where a secret engine of kind KV is mounted, and which of its two versions it has."""

    path: str
    """Ends with a slash."""
    version: Literal[1, 2]


@dataclass(frozen=True, slots=True)
class Document:
    """All values at one path, in one version. It is parsed once, in the thread that reads it, because a
    pod may ask for sixty of its keys at once."""

    values: Mapping[str, Secret]
    """As text by key; a value that is not text in Vault is JSON here."""
    texts: frozenset[str]
    """The keys of values that are text in Vault, too."""
    version: int | None
    """None in engines that keep a single version."""
    size: int
    """In bytes of JSON."""

    @classmethod
    def of(cls, data: Mapping[str, Any], version: int | None) -> Self:
        return cls(
            {
                key: Secret(value if isinstance(value, str) else _json(value))
                for key, value in data.items()
            },
            frozenset(key for key, value in data.items() if isinstance(value, str)),
            version,
            len(_json(data).encode()),
        )

    @property
    def content(self) -> Secret:
        """All of it, as a JSON object."""
        fields = (
            f"{_json(key)}:{_json(value.reveal()) if key in self.texts else value.reveal()}"
            for key, value in self.values.items()
        )
        return Secret(f"{{{','.join(fields)}}}")

    def keys(self) -> tuple[str, ...]:
        return tuple(self.values)

    def value(self, key: str) -> Secret | None:
        return self.values.get(key)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
