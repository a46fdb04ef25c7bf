"""Signatures of requests to S3, version 4: who asks proves that it has the secret key, and does not send it.

Each request is signed with all of its headers and the digest of its body, for one moment and one region, so
that it can neither be changed on the way nor be sent again a quarter of an hour later.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

from nemutator_common.secret import Secret

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "s3"
_UNCHANGED = "-_.~"
"""What stands for itself in an address, beside letters and digits (RFC 3986)."""


@dataclass(frozen=True, slots=True)
class AccessKey:
    identity: str
    secret: Secret
    region: str


def encoded_path(path: str) -> str:
    """*path* as it is signed and sent."""
    return quote(path, safe="/" + _UNCHANGED)


def signed(
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    *,
    query: Mapping[str, str] | None = None,
    key: AccessKey,
    at: float,
) -> dict[str, str]:
    """*headers*, of which `Host` is one, and those that prove who sends *body* to *path* at *at*."""
    moment = datetime.fromtimestamp(at, UTC)
    stamp, day = f"{moment:%Y%m%dT%H%M%SZ}", f"{moment:%Y%m%d}"
    digest = hashlib.sha256(body).hexdigest()
    sent = {**headers, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    lines = sorted((name.lower(), " ".join(value.split())) for name, value in sent.items())
    names = ";".join(name for name, _ in lines)
    request = "\n".join(
        (
            method,
            encoded_path(path),
            _encoded_query(query or {}),
            *(f"{name}:{value}" for name, value in lines),
            "",
            names,
            digest,
        )
    )
    scope = f"{day}/{key.region}/{SERVICE}/aws4_request"
    to_sign = "\n".join((ALGORITHM, stamp, scope, hashlib.sha256(request.encode()).hexdigest()))
    proof = hmac.new(_signing_key(key, day), to_sign.encode(), hashlib.sha256).hexdigest()
    named = f"Credential={key.identity}/{scope}, SignedHeaders={names}, Signature={proof}"
    return {**sent, "Authorization": f"{ALGORITHM} {named}"}


def _encoded_query(query: Mapping[str, str]) -> str:
    pairs = [
        (quote(name, safe=_UNCHANGED), quote(value, safe=_UNCHANGED))
        for name, value in query.items()
    ]
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def _signing_key(key: AccessKey, day: str) -> bytes:
    found = f"AWS4{key.secret.reveal()}".encode()
    for part in (day, key.region, SERVICE, "aws4_request"):
        found = hmac.new(found, part.encode(), hashlib.sha256).digest()
    return found
