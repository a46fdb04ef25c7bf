"""What the authority signs is accepted by TLS as it is used here, and nothing else is."""

import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key, load_pem_public_key
from cryptography.x509.oid import NameOID

from tests.certificates import Authority, Leaf, signing_key

OURS = Authority("ours")


def shake_hands(trusted: Authority, leaf: Leaf, host: str, folder: Path) -> None:
    """A whole TLS handshake in memory; raises what the client objects to."""
    chain = folder / "leaf.pem"
    chain.write_text(leaf.both)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(chain)
    calling = ssl.create_default_context(cadata=trusted.certificate)
    calling.verify_flags |= ssl.VERIFY_X509_STRICT  # as Python 3.13 has it
    there, back = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = calling.wrap_bio(back, there, server_hostname=host)
    server = serving.wrap_bio(there, back, server_side=True)
    for end in (client, server, client, server):
        try:
            end.do_handshake()
        except ssl.SSLWantReadError:
            continue


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_server_is_trusted_under_each_of_its_names(host: str, tmp_path: Path) -> None:
    shake_hands(OURS, OURS.server("127.0.0.1", "localhost"), host, tmp_path)


def test_a_server_is_not_trusted_under_another_name(tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
        shake_hands(OURS, OURS.server("127.0.0.1", "localhost"), "elsewhere", tmp_path)


def test_another_authority_of_the_same_name_is_not_trusted(tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(Authority("ours"), OURS.server("localhost"), "localhost", tmp_path)


def test_a_client_cannot_serve(tmp_path: Path) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        shake_hands(OURS, OURS.client("localhost"), "localhost", tmp_path)


def test_a_client_says_who_it_is() -> None:
    leaf = OURS.client("system:node:localhost", ["system:nodes", "others"])
    subject = x509.load_pem_x509_certificate(leaf.certificate.encode()).subject
    names = [name.value for name in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = [name.value for name in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    assert (names, groups) == (["system:node:localhost"], ["system:nodes", "others"])


def test_the_keys_for_tokens_are_a_pair() -> None:
    private, public = signing_key()
    key = load_pem_private_key(private.encode(), password=None)
    verifying = load_pem_public_key(public.encode())
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    assert isinstance(verifying, ec.EllipticCurvePublicKey)
    assert key.public_key().public_numbers() == verifying.public_numbers()
