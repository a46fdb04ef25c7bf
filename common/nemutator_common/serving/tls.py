"""The certificate of a listener, which is loaded again when its files change."""

import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from nemutator_common.errors import ExitCode, OperatorError

_Stamp = tuple[tuple[int, int, int] | None, ...]


@dataclass(frozen=True, slots=True)
class TlsFiles:
    """PEM files. With a *client_ca*, only callers with a certificate from it are accepted."""

    certificate: Path
    key: Path
    client_ca: Path | None = None

    def __str__(self) -> str:
        return ", ".join(str(path) for path in self._all())

    def _all(self) -> tuple[Path, ...]:
        return tuple(filter(None, (self.certificate, self.key, self.client_ca)))

    def stamp(self) -> _Stamp:
        """A value that differs whenever one of the files was written or replaced."""
        return tuple(_stamp(path) for path in self._all())

    def load(self) -> ssl.SSLContext:
        """Make a context from the files; an OSError or ValueError says that they do not match."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        # Without a password of our own, OpenSSL would ask for one on the terminal.
        context.load_cert_chain(self.certificate, self.key, password="")
        if self.client_ca is not None:
            context.load_verify_locations(cafile=self.client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
        return context


class TlsContext:
    """The context for new connections. Open connections retain the one that they began with."""

    def __init__(self, files: TlsFiles) -> None:
        self._files = files
        self._tried = files.stamp()
        try:
            self.current = files.load()
        except (OSError, ValueError) as error:
            raise OperatorError(
                f"cannot use the certificate and key of {files}: {reason(error)}",
                remedy="name readable PEM files that belong together, the key without a password",
                code=ExitCode.SETTINGS,
            ) from error

    def refresh(self) -> bool:
        """Load changed files and return whether there were any; raise when they cannot be used.

        A pair that was refused is tried again only after another change, so that a rotation that
        is half done is refused once and loaded when it is complete.
        """
        stamp = self._files.stamp()
        if stamp == self._tried:
            return False
        self._tried = stamp
        self.current = self._files.load()
        return True


def reason(error: Exception) -> str:
    """Why files could not be used, without the numbers of OpenSSL's source code."""
    if isinstance(error, ssl.SSLError):
        return (error.reason or "not a certificate and its key").lower().replace("_", " ")
    return getattr(error, "strerror", None) or str(error)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
