"""The fake server's authority as files, which is how clients and TLS libraries want it."""

import ssl
from pathlib import Path

from tests.certificates import Authority, Leaf


class AuthorityFiles:
    """In *folder*: `ca.crt`, and `<name>.crt` with `<name>.key` of what it signs."""

    def __init__(self, folder: Path, name: str = "fake-kube-ca") -> None:
        self._folder = folder
        self._authority = Authority(name)
        self.file = folder / "ca.crt"
        self.pem = self._authority.certificate.encode()
        self.file.write_bytes(self.pem)

    def server_context(self, *names: str) -> ssl.SSLContext:
        """For a server on loopback; it also asks clients for certificates of this authority."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        leaf = self._authority.server("127.0.0.1", "localhost", *names)
        context.load_cert_chain(*self._written("server", leaf))
        context.load_verify_locations(self.file)
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def client_files(self, user: str, *groups: str) -> tuple[Path, Path]:
        """Certificate and key of *user*."""
        return self._written(user.replace(":", "_"), self._authority.client(user, groups))

    def _written(self, name: str, leaf: Leaf) -> tuple[Path, Path]:
        paths = self._folder / f"{name}.crt", self._folder / f"{name}.key"
        for path, text in zip(paths, (leaf.certificate, leaf.key), strict=True):
            path.write_text(text)
        return paths
