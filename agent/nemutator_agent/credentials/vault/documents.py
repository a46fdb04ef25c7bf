"""What Vault has at one path, wrapped so that it is not shown by accident."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Self

from nemutator_common.secret import Secret

RESERVED = frozenset({"auth", "sys", "identity"})
"""What Vault's own paths begin with."""

_OWN_KINDS = frozenset(
    f"{prefix}{kind}" for prefix in ("", "ns_") for kind in ("token", "system", "identity")
)

_NONE: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class EngineMount:
    """Where an engine is mounted, of which kind it is, and of KV which of its two versions."""

    path: str
    """Ends with a slash."""
    version: Literal[1, 2] | None
    """None in an engine that is not KV."""
    kind: str = "kv"

    @property
    def is_reserved(self) -> bool:
        """Whether it is Vault's own and has no secrets. In a namespace, such a path begins with another
        name than `auth/` and `sys/`."""
        return self.kind in _OWN_KINDS or not RESERVED.isdisjoint(self.path.split("/"))


@dataclass(frozen=True, slots=True)
class WrittenNumber:
    """A number as Vault has written it: 1.10 and 0.00005 would be 1.1 and 5e-05 as one of Python's."""

    text: str


@dataclass(frozen=True, slots=True)
class GivenLease:
    """For how long Vault lends a secret."""

    id: str
    ttl_s: float
    renewable: bool


@dataclass(frozen=True, slots=True, weakref_slot=True)
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
    """In bytes of JSON, with its metadata."""
    metadata: Mapping[str, Any] = field(default_factory=lambda: _NONE)
    """What Vault says of this version, such as when it was written."""
    lease: GivenLease | None = None
    """None of what is not lent."""
    _digests: dict[str | None, bytes] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(
        cls,
        data: Mapping[str, Any],
        version: int | None,
        metadata: Mapping[str, Any] = _NONE,
        *,
        lease: GivenLease | None = None,
    ) -> Self:
        return cls(
            {
                key: Secret(value if isinstance(value, str) else _json(value))
                for key, value in data.items()
            },
            frozenset(key for key, value in data.items() if isinstance(value, str)),
            version,
            sum(
                len(_json(dict(part)).encode("utf-8", "surrogatepass"))
                for part in (data, metadata)
                if part is not _NONE
            ),
            metadata,
            lease,
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

    def digest(self, key: str | None) -> bytes | None:
        """Of the value of *key*, or of all of it; None where there is no such key. It is made once: the same
        document is given to a pod again and again."""
        known = self._digests.get(key)
        if known is not None:
            return known
        value = self.content if key is None else self.value(key)
        if value is None:
            return None
        # JSON may hold halves of characters.
        content = value.reveal().encode("utf-8", "surrogatepass")
        self._digests[key] = hashlib.sha256(content).digest()
        return self._digests[key]


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except TypeError:
        return _as_written(value)


def _as_written(value: object) -> str:
    """JSON of what has a `WrittenNumber` in it."""
    match value:
        case WrittenNumber():
            return value.text
        case dict():
            fields = (f"{_json(key)}:{_as_written(one)}" for key, one in value.items())
            return f"{{{','.join(fields)}}}"
        case list():
            return f"[{','.join(map(_as_written, value))}]"
    return _json(value)
