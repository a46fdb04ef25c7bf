"""What a Vault holds, and how it answers: accounts log in, and read what their role allows.

It answers as Vault 1.21 does, down to the words of its errors; the contract suite holds it to that.
"""

import secrets
import threading
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

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
        self.namespaces: dict[str, VaultState] = {}
        self.reviews = True
        """It can ask the API server about accounts."""
        self._lock = threading.Lock()

    def within(self, namespace: str) -> "VaultState":
        """A namespace of it, which has all of that for itself."""
        return self.namespaces.setdefault(namespace, VaultState())

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
            operation = operation_of(method, path)
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


def operation_of(method: str, path: str) -> str:
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
