"""The form of secrets on a disk: AES-256-GCM, with the file's first line as associated data."""

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

KEY_BYTES = 32
NONCE_BYTES = 12

MAGIC = b"nemutator secrets 1\n"
"""The file's first line, which is authenticated, and names the form to people who look at it."""


class SealError(ValueError):
    """The file is not sealed, was damaged or changed, or belongs to another key."""


def seal(plain: bytes, *, key: bytes, nonce: bytes) -> bytes:
    """*nonce* must never have been used with *key*: random ones suffice for 2**32 files."""
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes")
    return MAGIC + nonce + AESGCM(key).encrypt(nonce, plain, MAGIC)


def unseal(sealed: bytes, *, key: bytes) -> bytes:
    if not sealed.startswith(MAGIC):
        raise SealError("it is not a file of sealed secrets")
    nonce = sealed[len(MAGIC) : len(MAGIC) + NONCE_BYTES]
    try:
        return AESGCM(key).decrypt(nonce, sealed[len(MAGIC) + NONCE_BYTES :], MAGIC)
    except (InvalidTag, ValueError):
        raise SealError("it was damaged or changed, or belongs to another key") from None
