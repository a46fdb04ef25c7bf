"""From when until when a certificate of OpenSSH is good (PROTOCOL.certkeys of its source)."""

import base64
import binascii
import struct

_KEY_FIELDS = {
    "ssh-ed25519-cert-v01@openssh.com": 1,
    "sk-ssh-ed25519-cert-v01@openssh.com": 2,
    "ssh-rsa-cert-v01@openssh.com": 2,
    "ecdsa-sha2-nistp256-cert-v01@openssh.com": 2,
    "ecdsa-sha2-nistp384-cert-v01@openssh.com": 2,
    "ecdsa-sha2-nistp521-cert-v01@openssh.com": 2,
    "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com": 3,
}
"""How many fields the key has, which stand between the nonce and the serial number."""

_LONGEST = 32 << 10


def validity(signed_key: str) -> tuple[int, int] | None:
    """From when until when, in seconds since 1970; None of what is no certificate."""
    kind, _, rest = signed_key.strip().partition(" ")
    if kind not in _KEY_FIELDS or len(rest) > _LONGEST:
        return None
    try:
        content = base64.b64decode(rest.partition(" ")[0], validate=True)
        at = 0
        # The kind once more, and the nonce, before the key.
        for _ in range(2 + _KEY_FIELDS[kind]):
            at = _behind_text(content, at)
        at += 8 + 4  # serial number and type
        for _ in range(2):  # key id and principals
            at = _behind_text(content, at)
        after, before = struct.unpack_from(">QQ", content, at)
    except (binascii.Error, struct.error, ValueError):
        return None
    return int(after), int(before)


def _behind_text(content: bytes, at: int) -> int:
    (length,) = struct.unpack_from(">I", content, at)
    return int(at + 4 + length)
