"""A cluster that signs tokens of service accounts and publishes its keys, without an API server."""

import base64
import functools
import hashlib
from collections.abc import Mapping
from typing import Any

import msgspec
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from nemutator_common.names import BRAIN_AUDIENCE
from nemutator_controller.kube.failures import KubeError
from nemutator_controller.kube.reviews import PublishedKeys

ISSUER = "https://kubernetes.default.svc.cluster.local"
AGENT = "system:serviceaccount:nemutator:nemutator-agent"
NOW = 1_700_000_000.0
"""The time at which the clock of tests stands."""

Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@functools.cache
def rsa_key(name: str = "", *, bits: int = 2048) -> rsa.RSAPrivateKey:
    """Always the same for one *name*: to make one takes a while."""
    return rsa.generate_private_key(65537, bits)


@functools.cache
def ec_key(name: str = "") -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int, length: int | None = None) -> str:
    return b64(value.to_bytes(length or (value.bit_length() + 7) // 8))


def key_id(key: Key) -> str:
    """As Kubernetes names a key."""
    der = key.public_key().public_bytes(
        serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return b64(hashlib.sha256(der).digest())


def jwk(key: Key) -> dict[str, str]:
    known = {"use": "sig", "kid": key_id(key)}
    if isinstance(key, rsa.RSAPrivateKey):
        public = key.public_key().public_numbers()
        return {**known, "kty": "RSA", "alg": "RS256", "n": number(public.n), "e": number(public.e)}
    point = key.public_key().public_numbers()
    curve = {"kty": "EC", "alg": "ES256", "crv": "P-256"}
    return {**known, **curve, "x": number(point.x, 32), "y": number(point.y, 32)}


def signature(key: Key, signed: bytes) -> bytes:
    if isinstance(key, rsa.RSAPrivateKey):
        return key.sign(signed, padding.PKCS1v15(), hashes.SHA256())
    r, s = decode_dss_signature(key.sign(signed, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32) + s.to_bytes(32)


def claims(*, node: str = "n1", now: float = NOW, **other: object) -> dict[str, Any]:
    """Those of an agent's token, as an API server writes them."""
    return {
        "aud": [str(BRAIN_AUDIENCE)],
        "exp": int(now) + 3600,
        "iat": int(now),
        "iss": ISSUER,
        "jti": "0b0e7f0e-95b4-4a4c-9d1d-7d8f9f0a1b2c",
        "kubernetes.io": {
            "namespace": "nemutator",
            "node": {"name": node, "uid": f"uid-of-{node}"},
            "pod": {"name": f"agent-{node}", "uid": f"pod-uid-{node}"},
            "serviceaccount": {"name": "nemutator-agent", "uid": "account-uid"},
        },
        "nbf": int(now),
        "sub": AGENT,
        **other,
    }


def header(key: Key, **other: object) -> dict[str, object]:
    algorithm = "RS256" if isinstance(key, rsa.RSAPrivateKey) else "ES256"
    return {"alg": algorithm, "kid": key_id(key), **other}


def written(key: Key, head: bytes, payload: bytes) -> str:
    """A token of these very bytes."""
    signed = f"{b64(head)}.{b64(payload)}"
    return f"{signed}.{b64(signature(key, signed.encode()))}"


def token(
    key: Key,
    said: Mapping[str, Any] | None = None,
    *,
    head: Mapping[str, object] | None = None,
) -> str:
    return written(
        key, msgspec.json.encode(head or header(key)), msgspec.json.encode(said or claims())
    )


class Issuer:
    """A `SigningKeySource`."""

    def __init__(self, *keys: Key) -> None:
        self.keys = list(keys)
        self.asked = 0
        self.broken: KubeError | None = None

    def published(self) -> PublishedKeys:
        return PublishedKeys(
            discovery=msgspec.json.encode({"issuer": ISSUER, "jwks_uri": "https://elsewhere"}),
            keys=msgspec.json.encode({"keys": [jwk(key) for key in self.keys]}),
        )

    async def signing_keys(self) -> PublishedKeys:
        self.asked += 1
        if self.broken is not None:
            raise self.broken
        return self.published()
