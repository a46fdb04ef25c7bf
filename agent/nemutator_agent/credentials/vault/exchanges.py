"""A request to Vault as a pod's own client words it, and Vault's answer to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nemutator_common.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultExchange:
    method: str
    path: str
    """Decoded, without `/v1/`."""
    query: Sequence[tuple[str, str]] = ()
    body: Secret = field(default_factory=lambda: Secret(""))
    merge_patch: bool = False
    """Whether the body says only what changes."""
    wrap_ttl: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultAnswer:
    """An answer of Vault itself, refusals included."""

    status: int
    body: Secret
    """As Vault wrote it; empty where it has nothing to say."""
    document: Mapping[str, Any] = field(repr=False)
    """The same, parsed."""
