"""A throw-away CA with the certificates of servers and clients that it has signed."""

import datetime
import ipaddress
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_LIFE = datetime.timedelta(days=1)


class Authority:
    """Its files lie in *folder*: `ca.crt`, and `<name>.crt` with `<name>.key` of what it signs."""

    def __init__(self, folder: Path, name: str = "fake-kube-ca") -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        builder = self._builder(self._name, self._key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=None), critical=True
        )
        usage = x509.KeyUsage(
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
        certificate = builder.add_extension(usage, critical=True).sign(self._key, hashes.SHA256())
        self._identifier = x509.AuthorityKeyIdentifier.from_issuer_public_key(
            self._key.public_key()
        )
        self.file = folder / "ca.crt"
        self.pem = certificate.public_bytes(serialization.Encoding.PEM)
        self.file.write_bytes(self.pem)

    def server_context(self, *names: str) -> ssl.SSLContext:
        """For a server on loopback; it also asks clients for certificates of this authority."""
        alternatives = [
            x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
            *(x509.DNSName(name) for name in ("localhost", *names)),
        ]
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
        certificate, key = self._signed(
            "server",
            subject,
            ExtendedKeyUsageOID.SERVER_AUTH,
            x509.SubjectAlternativeName(alternatives),
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.load_verify_locations(self.file)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def client_files(self, user: str, *groups: str) -> tuple[Path, Path]:
        """Certificate and key of *user*: the common name is the user, organisations are groups."""
        subject = x509.Name(
            [
                x509.NameAttribute(NameOID.COMMON_NAME, user),
                *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups),
            ]
        )
        file_name = user.replace(":", "_")
        return self._signed(file_name, subject, ExtendedKeyUsageOID.CLIENT_AUTH)

    def _signed(
        self,
        file_name: str,
        subject: x509.Name,
        usage: x509.ObjectIdentifier,
        *extensions: x509.ExtensionType,
    ) -> tuple[Path, Path]:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = (
            self._builder(subject, key.public_key())
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .add_extension(self._identifier, critical=False)
        )
        for extension in extensions:
            builder = builder.add_extension(extension, critical=False)
        certificate = builder.sign(self._key, hashes.SHA256())
        paths = self._folder / f"{file_name}.crt", self._folder / f"{file_name}.key"
        paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        paths[1].write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return paths

    def _builder(
        self, subject: x509.Name, key: ec.EllipticCurvePublicKey
    ) -> x509.CertificateBuilder:
        now = datetime.datetime.now(datetime.UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - _LIFE)
            .not_valid_after(now + _LIFE)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
        )
