"""Certificates of the installation: one authority, and a short-lived leaf for each server of ours.

They have the extensions that OpenSSL's strict mode (Python 3.13) requires.
"""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID
from nemutator_common.secret import Secret

AUTHORITY_S = 3650 * 86_400.0
LEAF_S = 90 * 86_400.0
EARLIER_S = 300.0
"""Certificates are valid from a little in the past: clocks of a cluster agree to minutes only."""

_DEADLINE = 2 / 3
"""The part of its life after which a certificate is renewed."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, both PEM."""

    certificate: str
    key: Secret


def new_authority(name: str, *, now: float) -> Pair:
    """An authority that may sign servers' certificates, and no further authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = _named(name)
    builder = (
        _begun(subject, subject, key, now=now, lasts_s=AUTHORITY_S)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signs=True), critical=True)
    )
    return Pair(_pem(builder.sign(key, hashes.SHA256())), _key_pem(key))


def issue(authority: Pair, names: Sequence[str], *, now: float) -> Pair:
    """A server's certificate for *names* (host names and addresses), signed by *authority*."""
    signer, signing_key = _loaded(authority)
    key = ec.generate_private_key(ec.SECP256R1())
    identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(signing_key.public_key())
    builder = (
        _begun(_named(names[0][:64]), signer.subject, key, now=now, lasts_s=LEAF_S)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signs=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(identifier, critical=False)
        .add_extension(
            x509.SubjectAlternativeName([_alternative(name) for name in names]), critical=False
        )
    )
    return Pair(_pem(builder.sign(signing_key, hashes.SHA256())), _key_pem(key))


def is_authority(pair: Pair, *, now: float) -> bool:
    """Whether *pair* can sign a leaf now that outlives its own renewal."""
    try:
        certificate, _ = _loaded(pair)
        basic = certificate.extensions.get_extension_for_class(x509.BasicConstraints).value
    except (ValueError, TypeError, x509.ExtensionNotFound):
        return False
    return basic.ca and _at(now + LEAF_S) < certificate.not_valid_after_utc


def is_due(leaf: Pair | None, authority: Pair, names: Sequence[str], *, now: float) -> bool:
    """Whether a certificate has to be issued in the place of *leaf*."""
    if leaf is None:
        return True
    try:
        certificate, _ = _loaded(leaf)
        signer, _ = _loaded(authority)
        certificate.verify_directly_issued_by(signer)
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except Exception:  # noqa: BLE001 - whatever its fault is, a new one has none
        return True
    if set(found.value) != {_alternative(name) for name in names}:
        return True
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    return not begins <= _at(now) < begins + (ends - begins) * _DEADLINE


def certificates_only(bundle: str) -> bool:
    """Whether *bundle* has PEM blocks of certificates and nothing else, and so may be published."""
    try:
        return bool(x509.load_pem_x509_certificates(bundle.encode())) and all(
            not block.strip() or block.lstrip().startswith("-----BEGIN CERTIFICATE-----")
            for block in bundle.split("-----END CERTIFICATE-----")
        )
    except ValueError:
        return False


def _begun(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    *,
    now: float,
    lasts_s: float,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(_at(now - EARLIER_S))
        .not_valid_after(_at(now + lasts_s))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _loaded(pair: Pair) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    certificate = x509.load_pem_x509_certificate(pair.certificate.encode())
    key = serialization.load_pem_private_key(pair.key.reveal().encode(), password=None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("the key is not an elliptic one")
    if key.public_key() != certificate.public_key():
        raise ValueError("the key belongs to another certificate")
    return certificate, key


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_pem(key: ec.EllipticCurvePrivateKey) -> Secret:
    return Secret(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()
    )


def _at(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
