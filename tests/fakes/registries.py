"""Registries of images: one on loopback that speaks the distribution API, and one in memory; and kept digests."""

import asyncio
import contextlib
import json
import ssl
import threading
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.images.documents import FoundImage, digest_of
from nemutator_controller.images.failures import ImageUnreadableError
from nemutator_controller.images.references import ImageName
from nemutator_controller.mutations.image_commands import ImageCommand

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


class MemoryRegistry:
    """An `ImageRegistry` that a test fills."""

    def __init__(self) -> None:
        self.images: dict[ImageName, FoundImage | ImageUnreadableError] = {}
        self.reads: list[ImageName] = []
        self.looks: list[ImageName] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def read(self, image: ImageName) -> FoundImage:
        self.reads.append(image)
        await self.may_answer.wait()
        return self._found(image)

    async def digest(self, image: ImageName) -> str:
        self.looks.append(image)
        try:
            return self._found(image).digest
        except ImageUnreadableError as error:
            if not error.digest:
                raise
            return error.digest

    def _found(self, image: ImageName) -> FoundImage:
        found = self.images.get(image)
        if found is None:
            raise ImageUnreadableError("missing", f"{image.registry} does not have it")
        if isinstance(found, ImageUnreadableError):
            raise found
        return found


class MemoryDigests:
    """A `KeptDigests`."""

    def __init__(self) -> None:
        self.kept: dict[str, str] = {}
        self.is_away = False

    async def all(self) -> Mapping[str, str]:
        return dict(self.kept)

    async def keep(self, changed: Mapping[str, str | None]) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")
        for image, digest in changed.items():
            self.kept.pop(image, None)
            if digest:
                self.kept[image] = digest


@dataclass(frozen=True)
class Reply:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    closes: bool = False
    """In the middle of the body."""


Scripted = Callable[[str, Mapping[str, str]], Reply | None]


class FakeRegistry:
    """As registries answer that anybody may pull from, with a token or without one."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        self.manifests: dict[tuple[str, str], tuple[str, bytes]] = {}
        """By repository, and by tag or digest: media type and document."""
        self.blobs: dict[str, bytes] = {}
        self.token: str | None = None
        """None: nobody needs one."""
        self.password: str | None = None
        """USER:PASSWORD that a token takes; without tokens, each question. None: they are for anybody."""
        self.challenge: str | None = None
        """In place of the one that names its own tokens."""
        self.store: FakeRegistry | None = None
        """Where blobs are, if not here."""
        self.asked: list[tuple[str, str, Mapping[str, str]]] = []
        """Method, path, headers."""
        self.scripted: Scripted = lambda _path, _headers: None
        """What answers first, where it answers."""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        if tls is not None:
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self._scheme = "https" if tls else "http"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"{self._scheme}://{self.host}"

    def push(
        self,
        repository: str,
        tag: str,
        commands: Mapping[str, ImageCommand] | ImageCommand,
    ) -> str:
        """An image, or one for each architecture; returns the digest."""
        if isinstance(commands, ImageCommand):
            return self.put(repository, tag, MANIFEST, self._manifest(commands, "amd64"))
        listed: list[Any] = []
        for architecture, command in commands.items():
            document = self._manifest(command, architecture)
            digest = self.put(repository, digest_of(document), MANIFEST, document)
            listed.append(
                {"digest": digest, "platform": {"os": "linux", "architecture": architecture}}
            )
        attestation = {"os": "unknown", "architecture": "unknown"}
        listed.append({"digest": f"sha256:{'0' * 64}", "platform": attestation})
        document = json.dumps(
            {"schemaVersion": 2, "mediaType": INDEX, "manifests": listed}
        ).encode()
        return self.put(repository, tag, INDEX, document)

    def put(self, repository: str, tag: str, media_type: str, document: bytes) -> str:
        digest = digest_of(document)
        for version in (tag, digest):
            self.manifests[repository, version] = media_type, document
        return digest

    def _manifest(self, command: ImageCommand, architecture: str) -> bytes:
        words = {"Entrypoint": _listed(command.entrypoint), "Cmd": _listed(command.arguments)}
        configuration = {"os": "linux", "architecture": architecture, "config": words}
        blob = json.dumps(configuration).encode()
        self.blobs[digest_of(blob)] = blob
        config = {"digest": digest_of(blob), "size": len(blob)}
        return json.dumps({"schemaVersion": 2, "config": config, "layers": []}).encode()

    def reply(self, path: str, headers: Mapping[str, str]) -> Reply:
        if (scripted := self.scripted(path, headers)) is not None:
            return scripted
        where = urlsplit(path)
        if where.path == "/token":
            if not self._has_password(headers):
                return Reply(b"{}", 401)
            scope = parse_qs(where.query).get("scope", [""])[0]
            granted = self.token if scope.startswith("repository:") else ""
            return Reply(json.dumps({"token": granted}).encode())
        if where.path.startswith("/elsewhere/"):
            # A store of objects refuses two kinds of proof, and ours is nobody's business there.
            if "Authorization" in headers:
                return Reply(status=400)
            return self._blob(where.path.rpartition("/")[2])
        if self.token is not None and headers.get("Authorization") != f"Bearer {self.token}":
            challenge = self.challenge or f'Bearer realm="{self.url}/token",service="fake"'
            return Reply(b"{}", 401, {"WWW-Authenticate": challenge})
        if self.token is None and not self._has_password(headers):
            return Reply(b"{}", 401, {"WWW-Authenticate": 'Basic realm="fake"'})
        name, _, version = where.path.removeprefix("/v2/").rpartition("/")
        repository, _, kind = name.rpartition("/")
        if kind == "blobs":
            if self.store is None:
                return self._blob(version)
            signed = f"{self.store.url}/elsewhere/a%2Fb/{version}?sig=%2B"
            return Reply(status=307, headers={"Location": signed})
        found = self.manifests.get((repository, version))
        if found is None:
            return Reply(b'{"errors":[{"code":"MANIFEST_UNKNOWN"}]}', 404)
        media_type, document = found
        return Reply(
            document,
            headers={"Content-Type": media_type, "Docker-Content-Digest": digest_of(document)},
        )

    def _has_password(self, headers: Mapping[str, str]) -> bool:
        if self.password is None:
            return True
        return headers.get("Authorization") == f"Basic {b64encode(self.password.encode()).decode()}"

    def _blob(self, digest: str) -> Reply:
        blob = self.blobs.get(digest)
        return Reply(status=404) if blob is None else Reply(blob)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        registry = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 60

            def handle(self) -> None:
                # A client that is refused a certificate, or refuses an answer, goes away.
                with contextlib.suppress(ConnectionResetError):
                    super().handle()

            def do_GET(self) -> None:
                self._answer(with_body=True)

            def do_HEAD(self) -> None:
                self._answer(with_body=False)

            def _answer(self, *, with_body: bool) -> None:
                headers = dict(self.headers.items())
                registry.asked.append((self.command, self.path, headers))
                reply = registry.reply(self.path, headers)
                self.send_response(reply.status)
                length = len(reply.body) + (1 if reply.closes else 0)
                for name, value in ({"Content-Length": str(length)} | dict(reply.headers)).items():
                    self.send_header(name, value)
                self.end_headers()
                self.close_connection = reply.closes
                if with_body:
                    try:
                        self.wfile.write(reply.body)
                    except (BrokenPipeError, ConnectionResetError):
                        self.close_connection = True

            def log_message(self, *_: object) -> None:
                pass

        return Handler


def _listed(words: Sequence[str]) -> list[str] | None:
    return list(words) or None
