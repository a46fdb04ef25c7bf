"""A Vault on loopback over HTTP, or in memory behind the port."""

import asyncio
import json
import ssl
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, Self

from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange
from nemutator_agent.credentials.vault.failures import (
    LoginRefusedError,
    Outage,
    SecretMissingError,
    TokenGoneError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.leases import Lease
from nemutator_agent.credentials.vault.login_proofs import AppRole, GivenToken, LoginProof
from nemutator_common.secret import Secret

from tests.fakes.vault_states import INVALID_TOKEN, VaultState, operation_of

LOOPBACK = "127.0.0.1"


class FakeVault(VaultState):
    """`with` it: it listens on loopback."""

    def __init__(self, *, tls: ssl.SSLContext | None = None) -> None:
        super().__init__()
        self.headers: list[Mapping[str, str]] = []
        self.broken: tuple[int, bytes, Mapping[str, str]] | None = None
        """An answer to everything: status, body, headers."""
        self.drips: Literal["head", "body"] | None = None
        """Part of the answer to everything, of which a byte comes now and then, and which has no end."""
        self.closing = threading.Event()
        self._held_back: dict[str, threading.Event] = {}
        self.hold = threading.Event()
        """Answers wait for it."""
        self.hold.set()
        self._server = _Server((LOOPBACK, 0), _Handler)
        self._server.vault = self
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._scheme = "https" if tls else "http"

    @property
    def url(self) -> str:
        return f"{self._scheme}://{LOOPBACK}:{self._server.server_address[1]}"

    def hold_back(self, operation: str) -> None:
        """From now on, do what is asked and wait with the answer until `go_on`."""
        self._held_back[operation] = threading.Event()

    def go_on(self, operation: str) -> None:
        self._held_back.pop(operation).set()

    def wait_with(self, operation: str) -> None:
        held_back = self._held_back.get(operation)
        if held_back is not None:
            held_back.wait()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.hold.set()
        self.closing.set()
        for operation in tuple(self._held_back):
            self.go_on(operation)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class MemoryVault:
    """The port without HTTP, for engines: `state` is what lies behind it."""

    def __init__(self, state: VaultState | None = None) -> None:
        self.state = state or VaultState()
        self.outage: Outage | None = None
        self.retry_after_s: float | None = None
        """What it says in an outage."""
        self.refuses: set[str] = set()
        """What tokens may not do with themselves: renew, revoke."""
        self.open = asyncio.Event()
        """Calls wait for it."""
        self.open.set()

    def within(self, namespace: str) -> "MemoryVault":
        return MemoryVault(self.state.within(namespace))

    async def login(self, role: str, proof: LoginProof) -> Lease:
        match proof:
            case AppRole():
                assert not proof.wrapping_path, "only over HTTP"
                body = {"role_id": proof.role_id.reveal(), "secret_id": proof.secret_id.reveal()}
                where = "auth/approle/login"
            case GivenToken():
                return await self._given(proof.token)
            case _:
                body = {"role": role, "jwt": proof.reveal()}
                where = "auth/kubernetes/login"
        status, document = await self._ask("POST", where, None, body)
        if status in (400, 403):
            raise LoginRefusedError(document["errors"][0])
        return _lease(_checked(status, document))

    async def _given(self, token: Secret) -> Lease:
        status, document = await self._ask("GET", "auth/token/lookup-self", token)
        if status == 403:
            raise LoginRefusedError(f"auth/token/lookup-self: {document['errors'][0]}")
        about = _checked(status, document)["data"]
        return Lease(token, about["ttl"], about["renewable"], ours=False)

    async def renew(self, token: Secret) -> Lease:
        self._check("renew")
        return _lease(_checked(*await self._ask("POST", "auth/token/renew-self", token)))

    async def revoke(self, token: Secret) -> None:
        self._check("revoke")
        _checked(*await self._ask("POST", "auth/token/revoke-self", token))

    async def mount_of(self, token: Secret, path: str) -> EngineMount:
        status, document = await self._ask("GET", f"sys/internal/ui/mounts/{path}", token)
        if status == 403 and "invalid token" not in document["errors"][0]:
            raise VaultDeniedError("no policy of the role reaches into this mount")
        data = _checked(status, document)["data"]
        if data["type"] != "kv":
            above = "auth/" if path.startswith(f"auth/{data['path']}") else ""
            return EngineMount(above + data["path"], None, data["type"])
        return EngineMount(data["path"], 2 if data["options"]["version"] == "2" else 1)

    async def read(self, token: Secret, mount: EngineMount, path: str) -> Document:
        if mount.version is None:
            raise UnsupportedSecretError(f"{mount.path} is an engine of kind {mount.kind}")
        below = path.removeprefix(mount.path)
        where = f"{mount.path}data/{below}" if mount.version == 2 else path
        data = _checked(*await self._ask("GET", where, token))["data"]
        if mount.version == 1:
            return Document.of(data, None)
        return Document.of(data["data"], data["metadata"]["version"], data["metadata"])

    async def lookup(self, token: Secret) -> None:
        self._check("lookup")
        _checked(*await self._ask("GET", "auth/token/lookup-self", token))

    async def health(self) -> None:
        _checked(*await self._ask("GET", "sys/health", None))

    def _check(self, operation: str) -> None:
        if operation in self.refuses:
            raise VaultDeniedError("permission denied")

    async def exchange(self, token: Secret, asked: VaultExchange) -> VaultAnswer:
        query = "?list=true" if ("list", "true") in asked.query else ""
        body = json.loads(asked.body.reveal() or "{}")
        status, document = await self._ask(asked.method, f"{asked.path}{query}", token, body)
        if status == 403 and INVALID_TOKEN in document["errors"]:
            raise TokenGoneError("invalid token")
        if status == 503:
            raise VaultUnavailableError("sealed", "Vault is sealed")
        text = json.dumps(document) if document else ""
        return VaultAnswer(status=status, body=Secret(text), document=document)

    async def _ask(
        self, method: str, path: str, token: Secret | None, body: Mapping[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        await self.open.wait()
        if self.outage is not None:
            raise VaultUnavailableError(
                self.outage, "as the test wants it", retry_after_s=self.retry_after_s
            )
        await self.before()
        answer = self.state.answer(method, path, token.reveal() if token else "", body or {})
        await self.after()
        return answer

    async def before(self) -> None:
        """For those that do more than to answer."""

    async def after(self) -> None:
        """For those that do more than to answer."""


def _checked(status: int, document: dict[str, Any]) -> dict[str, Any]:
    said = "".join(document.get("errors", []))
    match status:
        case 400:
            raise VaultDeniedError(said)
        case 403:
            raise TokenGoneError(said) if "invalid token" in said else VaultDeniedError(said)
        case 404:
            raise SecretMissingError("no version of a secret is there")
        case 503:
            raise VaultUnavailableError("sealed", said)
    return document


def _lease(document: dict[str, Any]) -> Lease:
    auth = document["auth"]
    return Lease(Secret(auth["client_token"]), auth["lease_duration"], auth["renewable"])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    vault: FakeVault

    def handle_error(self, request: object, client_address: object) -> None:
        """A caller who has gone, or does not like our certificate: what such tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_GET(self) -> None:
        self._answer({})

    def do_DELETE(self) -> None:
        self._answer({})

    def do_PUT(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        self._answer(json.loads(self.rfile.read(length) or b"{}"))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
        pass

    def _answer(self, body: Mapping[str, Any]) -> None:
        vault = self.server.vault
        vault.headers.append(dict(self.headers.items()))
        path = self.path.removeprefix("/v1/")
        vault.hold.wait()
        if vault.drips is not None:
            self._drip(vault.drips)
            return
        headers: Mapping[str, str]
        if vault.broken is not None:
            status, content, headers = vault.broken
        else:
            token = self.headers.get("X-Vault-Token", "")
            status, document = vault.answer(self.command, path, token, body)
            vault.wait_with(operation_of(self.command, path))
            content = b"" if status == 204 else json.dumps(document).encode()
            headers = {}
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _drip(self, part: Literal["head", "body"]) -> None:
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        self.wfile.write(b"Content-Length: 1000000\r\n\r\n" if part == "body" else b"X: ")
        while not self.server.vault.closing.wait(0.01):
            self.wfile.write(b" ")
