import base64
import struct
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import SSHCertificateBuilder, SSHCertificateType
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.leases.ssh_certificates import validity

VALID_BEFORE = 1795419892
AUTHORITY = ed25519.Ed25519PrivateKey.generate()


def signed(
    key: ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey | rsa.RSAPublicKey,
    before: int = VALID_BEFORE,
) -> str:
    """As the library for other programs makes it."""
    made = (
        SSHCertificateBuilder()
        .public_key(key)
        .type(SSHCertificateType.USER)
        .key_id(b"vault-token-1")
        .valid_principals([b"app", b"web"])
        .valid_after(0)
        .valid_before(before)
        .sign(AUTHORITY)
    )
    return made.public_bytes().decode()


def ends_of(text: str) -> int | None:
    found = validity(text)
    assert found is None or found[0] == 0
    return found and found[1]


SIGNED = signed(ed25519.Ed25519PrivateKey.generate().public_key())


@pytest.mark.parametrize(
    "key",
    [
        ed25519.Ed25519PrivateKey.generate().public_key(),
        ec.generate_private_key(ec.SECP256R1()).public_key(),
        ec.generate_private_key(ec.SECP521R1()).public_key(),
        rsa.generate_private_key(65537, 2048).public_key(),
    ],
)
def test_the_end_of_a_certificate_is_found(
    key: ed25519.Ed25519PublicKey | ec.EllipticCurvePublicKey | rsa.RSAPublicKey,
) -> None:
    for text in (signed(key), f"{signed(key)}\n", f"{signed(key)} a comment"):
        assert ends_of(text) == VALID_BEFORE
    assert datetime.fromtimestamp(VALID_BEFORE, UTC).year == 2026
    assert ends_of(signed(key, 2**64 - 1)) == 2**64 - 1


@given(
    st.text(max_size=40) | st.binary(max_size=300).map(lambda raw: base64.b64encode(raw).decode())
)
def test_what_is_no_certificate_has_none(rest: str) -> None:
    for kind in ("ssh-ed25519-cert-v01@openssh.com", "sk-ecdsa-sha2-nistp256-cert-v01@openssh.com"):
        assert validity(f"{kind} {rest}") is None or len(rest) >= 48
    assert validity(rest) is None


@given(st.integers(0, len(SIGNED)))
def test_a_part_of_one_is_none_or_tells_the_same(length: int) -> None:
    assert ends_of(SIGNED[:length]) in (None, VALID_BEFORE)


def test_lengths_that_lead_beyond_it_and_too_long_ones_are_none() -> None:
    beyond = base64.b64encode(struct.pack(">I", 2**32 - 1) * 20).decode()
    assert validity(f"ssh-rsa-cert-v01@openssh.com {beyond}") is None
    assert validity(f"ssh-rsa-cert-v01@openssh.com {'A' * 40000}") is None
