"""Tokens of service accounts (JWT, RFC 7519), read strictly: what is not exactly what an API server
writes is no token.

Of a token's own header only two words count, the algorithm and the id of the key, and both only to find
a key that the cluster has published. Keys and addresses of keys in a header are never looked at.
"""

import base64
import binascii
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from nemutator_common.names import BRAIN_AUDIENCE

from nemutator_controller.access.bearers import Accounts
from nemutator_controller.access.callers import Caller, is_name
from nemutator_controller.access.signing_keys import LONGEST_KEY_ID, SigningKey

SKEW_S = 30.0
"""How far our clock and the API server's may be apart: half of what the API server itself allows."""

LONGEST_HEADER = 1024
"""An API server's has about 90 characters."""

_PART = "[A-Za-z0-9_-]+"
_JWT = re.compile(rf"({_PART})\.({_PART})\.({_PART})")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnprovenToken:
    """A token as it was sent: nothing of it is believed yet."""

    algorithm: str
    key_id: str
    """Empty when it names none."""
    signed: bytes
    """What the signature is for."""
    payload: bytes
    signature: bytes

    def is_signed_by(self, key: SigningKey) -> bool:
        # The key says which algorithm is used, so that no token can choose one.
        return self.algorithm == key.algorithm and key.has_signed(self.signed, self.signature)


@dataclass(frozen=True, slots=True)
class BoundPod:
    """The pod that a token was made for."""

    node: str
    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class ProvenAgent:
    """What a token proves by itself, for as long as its pod runs."""

    caller: Caller
    pod: BoundPod
    expires_at: float


def unproven(token: str) -> UnprovenToken | None:
    """*token*, taken apart; None: no API server has written it."""
    parts = _JWT.fullmatch(token)
    if parts is None or len(parts[1]) > LONGEST_HEADER:
        return None
    header, payload, signature = map(_decoded, parts.groups())
    if header is None or payload is None or signature is None:
        return None
    read = _object(header)
    # `crit` names what a reader must understand; we understand nothing but these two.
    if read is None or "crit" in read:
        return None
    algorithm, key_id = read.get("alg"), read.get("kid", "")
    if not isinstance(algorithm, str) or not isinstance(key_id, str):
        return None
    if len(key_id) > LONGEST_KEY_ID:
        return None
    return UnprovenToken(
        algorithm=algorithm,
        key_id=key_id,
        signed=token[: parts.end(2)].encode("ascii"),
        payload=payload,
        signature=signature,
    )


def agent_of(payload: bytes, accounts: Accounts, *, issuer: str, now: float) -> ProvenAgent | None:
    """The agent whose token, properly signed, has *payload*; None: it does not say so by itself, and the
    API server has to be asked.

    So it is with tokens of another issuer that this cluster may still take, with those that are over by
    our own clock, with those without a node, and with all of admission.
    """
    claims = _object(payload)
    if claims is None or claims.get("sub") != accounts.agent or claims.get("iss") != issuer:
        return None
    audiences = claims.get("aud")
    listed = audiences if isinstance(audiences, list) else [audiences]
    if str(BRAIN_AUDIENCE) not in listed:
        return None
    begins, ends = _time(claims.get("nbf", 0.0)), _time(claims.get("exp"))
    if begins is None or ends is None or not begins - SKEW_S <= now < ends + SKEW_S:
        return None
    bound = _mapping(claims.get("kubernetes.io"))
    pod, node = _mapping(bound.get("pod")), _mapping(bound.get("node"))
    texts = (node.get("name"), bound.get("namespace"), pod.get("name"), pod.get("uid"))
    if not all(isinstance(text, str) and is_name(text) for text in texts):
        return None
    found = BoundPod(*map(str, texts))
    return ProvenAgent(Caller("agent", found.node), found, ends)


def _decoded(part: str) -> bytes | None:
    """None: it is not the one way in which these bytes are written."""
    try:
        decoded = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    except binascii.Error:
        return None
    written = base64.urlsafe_b64encode(decoded).rstrip(b"=").decode("ascii")
    return decoded if written == part else None


def _object(text: bytes) -> Mapping[str, object] | None:
    """The JSON object in *text*; None also where a name stands in it twice, because readers differ about
    which one counts."""
    try:
        found = json.loads(text, object_pairs_hook=_each_once)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands twice")
    return found


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _time(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        seconds = float(value)
    except OverflowError:
        return None
    return seconds if math.isfinite(seconds) else None
