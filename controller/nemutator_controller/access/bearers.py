"""Tokens as callers show them, and who their bearer is in this installation."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nemutator_common.names import BRAIN_AUDIENCE
from nemutator_common.secret import Secret

from nemutator_controller.access.callers import Caller, is_name

NODE_CLAIM = "authentication.kubernetes.io/node-name"
POD_CLAIM = "authentication.kubernetes.io/pod-name"

LONGEST_TOKEN = 8 << 10
_JWT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Accounts:
    """The service accounts of our own processes, as Kubernetes names their users."""

    agent: str
    admission: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What the API server says of a token."""

    authenticated: bool
    username: str
    audiences: Sequence[str]
    claims: Mapping[str, Sequence[str]]


def account(namespace: str, name: str) -> str:
    """The user name of a service account."""
    return f"system:serviceaccount:{namespace}:{name}"


def bearer(authorization: str | None) -> Secret | None:
    """The token in an `Authorization` header; None: there is none, or none of a sane size."""
    scheme, _, token = (authorization or "").partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token or len(token) > LONGEST_TOKEN:
        return None
    return Secret(token) if token.isascii() and token.isprintable() else None


def may_be_projected(token: Secret) -> bool:
    """Whether it looks like a token of a service account; about others the API server is not asked."""
    return _JWT.fullmatch(token.reveal()) is not None


def caller_of(reviewed: Reviewed, accounts: Accounts) -> Caller | None:
    """Who the bearer is to the uplink; None: nobody.

    An agent is bound to the one node of its token's claim; a token without that claim, as an
    administrator can make one, is bound to no node and opens nothing.
    """
    if not reviewed.authenticated or BRAIN_AUDIENCE not in reviewed.audiences:
        return None
    if reviewed.username == accounts.agent:
        node = _only(reviewed.claims.get(NODE_CLAIM, ()))
        return None if node is None else Caller("agent", node)
    if reviewed.username == accounts.admission:
        pod = _only(reviewed.claims.get(POD_CLAIM, ()))
        return None if pod is None else Caller("admission", pod)
    return None


def _only(values: Sequence[str]) -> str | None:
    return values[0] if len(values) == 1 and is_name(values[0]) else None
