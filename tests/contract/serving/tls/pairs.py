"""Certificates of our own, and callers who trust each."""

import asyncio
import contextlib
import datetime
import ssl
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from nemutator_common.serving.server import TlsFiles

from tests.fakes.listeners import GET, Listener, closing, everything


def write_pair(directory: Path, name: str) -> TlsFiles:
    """A fresh self-signed certificate for *name* over the pair in *directory*."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    files = TlsFiles(directory / "tls.crt", directory / "tls.key")
    files.certificate.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    files.key.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return files


def trusting() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def name_of(writer: asyncio.StreamWriter) -> str:
    certificate = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    subject = x509.load_der_x509_certificate(certificate).subject
    return str(subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value)


async def name_for_a_newcomer(listener: Listener) -> str:
    _, writer = await listener.call(tls=trusting())
    async with closing(writer):
        return name_of(writer)


async def sooner_or_later(listener: Listener) -> str:
    """Like `name_for_a_newcomer`, where a busy machine may miss the deadline for handshakes."""
    while True:
        with contextlib.suppress(OSError):
            return await name_for_a_newcomer(listener)


async def answer_to(listener: Listener, pair: TlsFiles | None) -> bytes:
    """With TLS 1.3 a caller learns of the refusal only when it reads."""
    context = trusting()
    if pair is not None:
        context.load_cert_chain(pair.certificate, pair.key)
    try:
        reader, writer = await listener.call(
            GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), tls=context
        )
    except OSError:
        return b""
    async with closing(writer):
        with contextlib.suppress(OSError):
            return await everything(reader)
    return b""
