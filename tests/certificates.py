"""Certificates for tests: an authority that nobody else trusts, and what it signs."""

import datetime
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LASTS = datetime.timedelta(days=2)
EARLIER = datetime.timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Leaf:
    certificate: str
    key: str

    @property
    def both(self) -> str:
        return self.certificate + self.key


class Authority:
    """Signs for servers on loopback and for clients; its key never leaves this process.

    With the identifiers of keys without which OpenSSL's strict mode (Python 3.13) trusts nobody.
    """

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _named(name)
        basic = x509.BasicConstraints(ca=True, path_length=0)
        signs = x509.KeyUsage(
            digital_signature=True,
            key_cert_sign=True,
            crl_sign=True,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            encipher_only=False,
            decipher_only=False,
        )
        public = self._key.public_key()
        self._identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(public)
        certificate = (
            self._begun(self._name, self._key)
            .add_extension(basic, critical=True)
            .add_extension(signs, critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = certificate.public_bytes(serialization.Encoding.PEM).decode()

    def server(self, *addresses: str) -> Leaf:
        """For a server that is reached by these host names and IP addresses."""
        alternatives = x509.SubjectAlternativeName([_alternative(address) for address in addresses])
        return self._leaf(_named(addresses[0]), ExtendedKeyUsageOID.SERVER_AUTH, alternatives)

    def client(
        self, user: str, groups: Sequence[str] = (), *, alternatives: Sequence[str] = ()
    ) -> Leaf:
        """For who calls: Kubernetes takes the user from the name, its groups from organisations."""
        more = (
            [x509.SubjectAlternativeName(map(_alternative, alternatives))] if alternatives else []
        )
        return self._leaf(_named(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH, *more)

    def _leaf(
        self, subject: x509.Name, purpose: x509.ObjectIdentifier, *more: x509.ExtensionType
    ) -> Leaf:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._begun(subject, key)
        for extension in (x509.ExtendedKeyUsage([purpose]), self._identifier, *more):
            builder = builder.add_extension(extension, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        return Leaf(certificate.public_bytes(serialization.Encoding.PEM).decode(), private_pem(key))

    def _begun(
        self, subject: x509.Name, key: ec.EllipticCurvePrivateKey
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - EARLIER)
            .not_valid_after(now + LASTS)
            .add_extension(identifier, critical=False)
        )


def signing_key() -> tuple[str, str]:
    """A private key and its public half: what service-account tokens are signed with."""
    key = ec.generate_private_key(ec.SECP256R1())
    public = key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return private_pem(key), public.decode()


def private_pem(key: ec.EllipticCurvePrivateKey) -> str:
    # SEC 1: the one form of elliptic keys that all daemons of the testbed read.
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    ).decode()


def _named(name: str, groups: Sequence[str] = ()) -> x509.Name:
    organisations = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    return x509.Name([*organisations, x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative(address: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(address))
    except ValueError:
        return x509.DNSName(address)
