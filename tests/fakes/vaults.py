"""A Vault, on loopback over HTTP or in memory: accounts log in, and read what their role allows.

It answers as Vault 1.21 does, down to the words of its errors; the contract suite holds it to that.
"""

import asyncio
import json
import secrets
import ssl
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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

LOOPBACK = "127.0.0.1"

DENIED = "1 error occurred:\n\t* permission denied\n\n"
INVALID_TOKEN = "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n"


@dataclass(frozen=True)
class Role:
    jwts: frozenset[str]
    """Of the accounts that may log in with it."""
    reads: frozenset[str]
    """Paths as references write them, without `data/`."""
    ttl_s: int = 3600
    batch: bool = False
    """Its tokens can neither be renewed nor revoked."""


@dataclass
class Engine:
    version: int | None
    """Of KV; None is an engine of another kind."""
    secrets: dict[str, list[dict[str, Any] | None]] = field(default_factory=dict)
    """By path below the mount: all versions, None for one that was deleted."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Of an engine of another kind: what it answers to those who may read there."""


class VaultState:
    """What a Vault holds, and how it answers. It may be changed while it does."""

    def __init__(self) -> None:
        self.engines: dict[str, Engine] = {
            "secret/": Engine(2),
            "kv1/": Engine(1),
            "transit/": Engine(None),
        }
        self.roles: dict[str, Role] = {}
        self.app_roles: dict[str, tuple[str, set[str]]] = {}
        """By role id: the role, and the secret ids that are good."""
        self.wrapped: dict[str, tuple[str, str]] = {}
        """By wrapping token: where it was made, and the secret id in it."""
        self.tokens: dict[str, str] = {}
        """To roles; those that are revoked are gone from here."""
        self.revoked: list[str] = []
        self.calls: Counter[str] = Counter()
        """By operation: login, renew, revoke, mount, read, lookup, system, cubbyhole."""
        self.asked: list[tuple[str, dict[str, Any]]] = []
        """Of the system: paths and bodies."""
        self.leases: dict[str, str] = {}
        """What is lent, to the token that it was read with."""
        self.lease_s: dict[str, int] = {}
        """For how long each path lends what is read there; other paths lend nothing."""
        self.cubbyholes: dict[str, dict[str, dict[str, Any]]] = {}
        """By token: what it has put where no other token reads."""
        self.allows_cubbyholes = True
        self.renews_leases = True
        self.lending_fails = False
        self.sealed = False
        self.plain = False
        """It says of a token that is gone what it says of a denial, as OpenBao does."""
        self.reviews = True
        """It can ask the API server about accounts."""
        self._lock = threading.Lock()

    def write(self, path: str, data: dict[str, Any]) -> None:
        engine, below = self._engine(path)
        engine.secrets.setdefault(below, []).append(data)

    def delete(self, path: str) -> None:
        engine, below = self._engine(path)
        engine.secrets[below][-1] = None

    def role(
        self,
        name: str,
        jwt: str,
        reads: Iterable[str],
        *,
        ttl_s: int = 3600,
        batch: bool = False,
    ) -> None:
        self.roles[name] = Role(frozenset({jwt}), frozenset(reads), ttl_s, batch)

    def give(self, token: str, role: str) -> None:
        """A token that an operator has made."""
        self.tokens[token] = role

    def answer(
        self, method: str, path: str, token: str, body: Mapping[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        with self._lock:
            if path.startswith("sys/health"):
                self.calls["health"] += 1
                if "sealedcode" in path or not self.sealed:
                    return 200, {"initialized": True, "sealed": self.sealed}
            if self.sealed:
                return 503, {"errors": ["Vault is sealed"]}
            operation = _operation(method, path)
            self.calls[operation] += 1
            if operation == "login":
                if path.startswith("auth/approle/"):
                    return self._app_role(str(body.get("role_id")), str(body.get("secret_id")))
                return self._login(str(body.get("role")), str(body.get("jwt")))
            role = self.roles.get(self.tokens.get(token, ""))
            if role is None and path.startswith("sys/wrapping/"):
                return self._wrapping(path, str(body.get("token", token)))
            if role is None:
                return 403, {"errors": ["permission denied" if self.plain else INVALID_TOKEN]}
            match operation:
                case "renew" | "revoke" if role.batch:
                    return 400, {
                        "errors": [f"batch tokens cannot be {operation.removesuffix('e')}ed"]
                    }
                case "renew":
                    return 200, {"auth": _auth(token, role)}
                case "revoke":
                    del self.tokens[token]
                    self.cubbyholes.pop(token, None)
                    self.leases = {one: of for one, of in self.leases.items() if of != token}
                    self.revoked.append(token)
                    return 204, {}
                case "lookup":
                    return 200, {"data": _token(token, role)}
                case "system" if path == "sys/leases/renew" and self.lease_s:
                    return self._renewed(str(body["lease_id"]))
                case "system":
                    self.asked.append((path, dict(body)))
                    return 200, {"request_id": "1", "data": {}}
                case "cubbyhole" if not self.allows_cubbyholes:
                    return 403, {"errors": [DENIED]}
                case "cubbyhole":
                    return self._cubbyhole(method, path, token, body)
                case "mount":
                    return self._mount(role, path.removeprefix("sys/internal/ui/mounts/"))
            if path in self.lease_s and path in role.reads:
                return self._lent(path, token)
            return self._use(role, method, path, body)

    def _login(self, name: str, jwt: str) -> tuple[int, dict[str, Any]]:
        role = self.roles.get(name)
        if role is None:
            return 400, {"errors": [f'invalid role name "{name}"']}
        if jwt not in role.jwts or not self.reviews:
            return 403, {"errors": ["permission denied"]}
        token = f"hvs.{secrets.token_urlsafe(24)}"
        self.tokens[token] = name
        return 200, {"auth": _auth(token, role)}

    def _app_role(self, role_id: str, secret_id: str) -> tuple[int, dict[str, Any]]:
        name, secret_ids = self.app_roles.get(role_id, ("", set()))
        if secret_id not in secret_ids:
            return 400, {"errors": ["invalid role or secret ID"]}
        token = f"hvs.{secrets.token_urlsafe(24)}"
        self.tokens[token] = name
        return 200, {"auth": _auth(token, self.roles[name])}

    def _wrapping(self, path: str, token: str) -> tuple[int, dict[str, Any]]:
        if token not in self.wrapped:
            return 400, {"errors": ["wrapping token is not valid or does not exist"]}
        made_at, secret_id = self.wrapped[token]
        if path == "sys/wrapping/lookup":
            return 200, {"request_id": "1", "data": {"creation_path": made_at}}
        del self.wrapped[token]
        return 200, {"request_id": "1", "data": {"secret_id": secret_id}}

    def _mount(self, role: Role, path: str) -> tuple[int, dict[str, Any]]:
        if path.startswith("auth/token/"):
            return 200, {"data": {"path": "token/", "type": "token", "options": None}}
        found = self._find(path)
        if found is None or not any(read.startswith(found[0]) for read in role.reads):
            why = "preflight capability check returned 403, please ensure client's policies grant"
            return 403, {"errors": [f'{why} access to path "{path}/"']}
        mount, engine, _ = found
        kind = "kv" if engine.version else mount.rstrip("/")
        options = {"version": str(engine.version)} if engine.version else None
        return 200, {"data": {"path": mount, "type": kind, "options": options}}

    def _read(self, role: Role, path: str) -> tuple[int, dict[str, Any]]:
        found = self._find(path)
        if found is None:
            return 403, {"errors": [DENIED]}
        mount, engine, below = found
        if engine.version == 2:
            below = below.removeprefix("data/")
        if mount + below not in role.reads:
            return 403, {"errors": [DENIED]}
        versions = engine.secrets.get(below, [])
        if not versions:
            return 404, {"errors": []}
        data, number = versions[-1], len(versions)
        if engine.version != 2:
            return 200, {"data": data}
        deleted = "2026-01-01T00:00:00Z" if data is None else ""
        content = {"data": data, "metadata": {"version": number, "deletion_time": deleted}}
        return (404 if data is None else 200), {"data": content}

    def _use(
        self, role: Role, method: str, path: str, body: Mapping[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        path, _, query = path.partition("?")
        found = self._find(path)
        if found is not None and found[1].version is None:
            if path not in role.reads:
                return 403, {"errors": [DENIED]}
            answer = found[1].answers.get(found[2])
            return (404, {"errors": []}) if answer is None else (200, answer)
        if found is not None and query == "list=true":
            mount, engine, below = found
            below = below.removeprefix("metadata/")
            if not any(read.startswith(f"{mount}{below}") for read in role.reads):
                return 403, {"errors": [DENIED]}
            keys = [name.removeprefix(f"{below}/") for name in engine.secrets]
            return 200, {"request_id": "1", "data": {"keys": keys}}
        if method == "GET":
            return self._read(role, path)
        known = path.replace("/data/", "/", 1)
        if known not in role.reads:
            return 403, {"errors": [DENIED]}
        if method == "DELETE":
            self.delete(known)
            return 204, {}
        self.write(known, dict(body["data"]))
        return 200, {"request_id": "1", "data": {"version": 1}}

    def _cubbyhole(
        self, method: str, path: str, token: str, body: Mapping[str, Any]
    ) -> tuple[int, dict[str, Any]]:
        own = self.cubbyholes.setdefault(token, {})
        if method == "GET":
            return (200, {"data": own[path]}) if path in own else (404, {"errors": []})
        own[path] = dict(body)
        return 204, {}

    def _lent(self, path: str, token: str) -> tuple[int, dict[str, Any]]:
        if self.lending_fails:
            return 500, {"errors": ["the database is not there"]}
        lease = f"{path}/{self.calls['read']}"
        self.leases[lease] = token
        term = {"lease_id": lease, "lease_duration": self.lease_s[path], "renewable": True}
        number = self.calls["read"]
        return 200, term | {"data": {"username": f"user-{number}", "password": f"word-{number}"}}

    def _renewed(self, lease: str) -> tuple[int, dict[str, Any]]:
        self.calls["renew a lease"] += 1
        if lease not in self.leases:
            return 400, {"errors": ["lease not found"]}
        if not self.renews_leases:
            return 400, {"errors": ["lease is not renewable"]}
        lease_s = self.lease_s[lease.rpartition("/")[0]]
        term = {"lease_id": lease, "lease_duration": lease_s, "renewable": True}
        return 200, term | {"request_id": "1", "data": None}

    def _engine(self, path: str) -> tuple[Engine, str]:
        found = self._find(path)
        assert found is not None, f"there is no engine for {path}"
        return found[1:]

    def _find(self, path: str) -> tuple[str, Engine, str] | None:
        for mount, engine in self.engines.items():
            if path.startswith(mount):
                return mount, engine, path.removeprefix(mount)
        return None


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


def _operation(method: str, path: str) -> str:
    if path.startswith(("auth/kubernetes/login", "auth/approle/login")):
        return "login"
    if path.startswith("sys/health"):
        return "health"
    own = {"renew-self": "renew", "revoke-self": "revoke", "lookup-self": "lookup"}
    if path.startswith("auth/token/"):
        return own[path.removeprefix("auth/token/")]
    if path.startswith("sys/internal/ui/mounts/"):
        return "mount"
    if path.startswith("cubbyhole/"):
        return "cubbyhole"
    return "system" if path.startswith("sys/") else "read"


def _token(token: str, role: Role) -> dict[str, Any]:
    return {
        "id": token,
        "accessor": f"accessor of {token}",
        "policies": ["default"],
        "ttl": role.ttl_s,
        "renewable": not role.batch,
    }


def _auth(token: str, role: Role) -> dict[str, Any]:
    return {"client_token": token, "lease_duration": role.ttl_s, "renewable": not role.batch}


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
            vault.wait_with(_operation(self.command, path))
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
