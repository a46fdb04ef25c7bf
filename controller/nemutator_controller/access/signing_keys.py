"""The keys with which the cluster signs tokens of service accounts, as it publishes them (JWKS, RFC 7517)."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

Algorithm = Literal["RS256", "ES256"]

MOST_KEYS = 32
"""A cluster has one or two; a few more while they are rotated."""

LONGEST_KEY_ID = 256
SMALLEST_RSA_BITS, LARGEST_RSA_BITS = 2048, 8192
"""A larger key makes each look at a made-up token dearer than a review."""

_P256_BYTES = 32
_SHA256 = hashes.SHA256()


@dataclass(frozen=True, slots=True)
class SigningKey:
    algorithm: Algorithm
    public: rsa.RSAPublicKey | ec.EllipticCurvePublicKey

    def has_signed(self, signed: bytes, signature: bytes) -> bool:
        """Whether *signature* is this key's for *signed*, by the one algorithm that the key is for."""
        try:
            if isinstance(self.public, rsa.RSAPublicKey):
                self.public.verify(signature, signed, padding.PKCS1v15(), _SHA256)
            elif len(signature) == 2 * _P256_BYTES:
                r = int.from_bytes(signature[:_P256_BYTES])
                s = int.from_bytes(signature[_P256_BYTES:])
                self.public.verify(encode_dss_signature(r, s), signed, ec.ECDSA(_SHA256))
            else:
                return False
        except InvalidSignature:
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySet:
    issuer: str
    """What tokens must say that they come from."""
    keys: Mapping[str, SigningKey]
    """By the id that a token names."""
    unreadable: frozenset[str]
    """Ids of keys that we cannot use, empty for one without an id: a review judges their tokens."""

    def names(self, key_id: str) -> bool:
        return key_id in self.keys or key_id in self.unreadable


def key_set(discovery: bytes, keys: bytes) -> KeySet:
    """What the cluster's two documents say; a ValueError says why they cannot be used."""
    issuer = _member(discovery, "issuer")
    listed = _member(keys, "keys")
    if not isinstance(issuer, str) or not issuer:
        raise ValueError("there is no issuer")
    if not isinstance(listed, list) or not 0 < len(listed) <= MOST_KEYS:
        raise ValueError(f"expected 1 to {MOST_KEYS} keys")
    usable: dict[str, SigningKey] = {}
    unreadable = set()
    for one in listed:
        key_id = one.get("kid", "") if isinstance(one, dict) else ""
        key_id = key_id if isinstance(key_id, str) and len(key_id) <= LONGEST_KEY_ID else ""
        key = _key(one) if key_id and isinstance(one, dict) else None
        if key is None or key_id in usable or key_id in unreadable:
            # Of two keys with one id nobody knows which is meant.
            usable.pop(key_id, None)
            unreadable.add(key_id)
        else:
            usable[key_id] = key
    return KeySet(issuer=issuer, keys=usable, unreadable=frozenset(unreadable))


def _member(document: bytes, name: str) -> object:
    try:
        parsed = json.loads(document)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    return parsed.get(name) if isinstance(parsed, dict) else None


def _key(jwk: Mapping[str, object]) -> SigningKey | None:
    """None: it is of a kind that we do not use, or none at all."""
    if jwk.get("use", "sig") != "sig":
        return None
    try:
        match jwk.get("kty"), jwk.get("alg"), jwk.get("crv"):
            case "RSA", None | "RS256", _:
                return _rsa_key(_number(jwk["n"]), _number(jwk["e"]))
            case "EC", None | "ES256", "P-256":
                point = ec.EllipticCurvePublicNumbers(
                    _number(jwk["x"]), _number(jwk["y"]), ec.SECP256R1()
                )
                return SigningKey("ES256", point.public_key())
            case _:
                return None
    except (KeyError, ValueError, TypeError):
        return None


def _rsa_key(modulus: int, exponent: int) -> SigningKey | None:
    if not SMALLEST_RSA_BITS <= modulus.bit_length() <= LARGEST_RSA_BITS:
        return None
    return SigningKey("RS256", rsa.RSAPublicNumbers(exponent, modulus).public_key())


def _number(text: object) -> int:
    if not isinstance(text, str):
        raise TypeError
    return int.from_bytes(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
