"""The life of a Vault token, folded from the records of what was done with it."""

from dataclasses import dataclass, replace
from typing import Literal

from nemutator_common.wire import SUPERSEDED, Grant

State = Literal["active", "revoked", "expired"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLease:
    """The newest Vault token of one pod and role, or of one caller outside of Kubernetes."""

    node: str
    pod_uid: str
    role: str
    caller: str
    namespace: str
    pod: str
    service_account: str
    since: float
    touched_at: float
    expires_at: float | None
    revoked: bool = False

    def state(self, *, now: float) -> State:
        if self.revoked:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "active"


def fold(lease: TokenLease | None, grant: Grant) -> TokenLease | None:
    """The lease after *grant*: one that was refused or failed changes nothing, nor does a read."""
    if grant.result != "granted":
        return lease
    if grant.operation == "login":
        return TokenLease(
            node=grant.node,
            pod_uid=grant.pod_uid,
            role=grant.role,
            caller=grant.caller,
            namespace=grant.namespace,
            pod=grant.pod,
            service_account=grant.service_account,
            since=grant.at,
            touched_at=grant.at,
            expires_at=grant.expires_at,
        )
    if lease is None:
        return None
    if grant.operation == "renew":
        return replace(lease, touched_at=grant.at, expires_at=grant.expires_at)
    if grant.operation == "revoke" and grant.reason != SUPERSEDED:
        return replace(lease, touched_at=grant.at, revoked=True)
    return lease
