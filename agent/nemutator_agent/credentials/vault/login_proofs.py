"""What is shown to Vault for a token: that of a pod, or what a machine without Kubernetes has in its files."""

from dataclasses import dataclass
from typing import TypeAlias

from nemutator_common.secret import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class AppRole:
    """Of Vault's method approle."""

    role_id: Secret
    secret_id: Secret
    wrapping_path: str = ""
    """Where a wrapped secret id was made: then *secret_id* is the wrapping token, which is good once."""


@dataclass(frozen=True, slots=True)
class GivenToken:
    """A token that the operator has made. It is used and renewed, and its end is not ours to bring about."""

    token: Secret


LoginProof: TypeAlias = Secret | AppRole | GivenToken
"""A bare secret is a pod's own token, as kubelet brings it."""
