"""Tokens as callers send them, and which process of this installation their bearer is."""

import base64
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from nemutator_common.names import BRAIN_AUDIENCE
from nemutator_common.secret import Secret

from nemutator_controller.access.callers import Caller, is_name
from nemutator_controller.kube.reviews import TokenVerdict

NODE_CLAIM = "authentication.kubernetes.io/node-name"
POD_CLAIM = "authentication.kubernetes.io/pod-name"

LONGEST_TOKEN = 8 << 10
_JWT = re.compile(r"[A-Za-z0-9_-]+\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Accounts:
    """The service accounts of our own processes, as Kubernetes names their users."""

    agent: str
    admission: str


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


def may_be_ours(token: Secret, accounts: Accounts) -> bool:
    """Whether it claims to be a token of one of *accounts* for us: the API server is asked about no
    other, and proves the claim."""
    found = _JWT.fullmatch(token.reveal())
    if found is None:
        return False
    try:
        payload = found[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
        subject, audiences = claims["sub"], claims["aud"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return False
    listed = audiences if isinstance(audiences, list) else [audiences]
    return subject in (accounts.agent, accounts.admission) and str(BRAIN_AUDIENCE) in listed


def caller_of(verdict: TokenVerdict, accounts: Accounts) -> Caller | None:
    """Which process the bearer is; None: none that may call.

    An agent is bound to the one node of its token's claim; a token without that claim, as an
    administrator can make one, is bound to no node and opens nothing.
    """
    user = verdict.user
    if not verdict.authenticated or BRAIN_AUDIENCE not in verdict.audiences:
        return None
    if user.username == accounts.agent:
        node = _only(user.extra.get(NODE_CLAIM, ()))
        return None if node is None else Caller("agent", node)
    if user.username == accounts.admission:
        pod = _only(user.extra.get(POD_CLAIM, ()))
        return None if pod is None else Caller("admission", pod)
    return None


def _only(values: Sequence[str]) -> str | None:
    return values[0] if len(values) == 1 and is_name(values[0]) else None
