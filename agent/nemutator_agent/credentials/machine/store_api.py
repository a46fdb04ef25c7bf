"""The API of `nemutator secret`: sets, gets, deletes and lists the secrets of a machine without pods."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import read_link_token
from nemutator_common.declarations import Reference, parse_reference
from nemutator_common.errors import OperatorError
from nemutator_common.secret import Secret
from nemutator_common.serving.connection import accepted_peer_of

from nemutator_agent.credentials.audit import Audit, AuditSubject, Operation
from nemutator_agent.credentials.connection_peer import UnknownPeer
from nemutator_agent.credentials.http_refusals import HttpRefusal
from nemutator_agent.credentials.machine.handler import read_vault
from nemutator_agent.credentials.machine.secret_store import SecretStore
from nemutator_agent.credentials.machine.stored_secrets import (
    StoredSecret,
    StoredSecretError,
    checked_rules,
)
from nemutator_agent.credentials.ports import ReadsVault
from nemutator_agent.identity.peers import Peer

STORE_PATH = "/v1/store/secrets"


class SetRequest(msgspec.Struct, forbid_unknown_fields=True):
    value: str | None = None
    vault: str | None = None
    """In place of a value: where Vault has it, as `mount/path#key`."""
    rules: list[str] = []
    in_file: bool | None = None
    """Whether to keep it in a file, too; None leaves that as it is."""


@dataclass(frozen=True, slots=True)
class StoreApi:
    store: SecretStore
    audit: Audit
    vault: ReadsVault | None = None

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get(STORE_PATH, self._list, allow_head=False),
            web.get(f"{STORE_PATH}/{{name}}", self._get, allow_head=False),
            web.put(f"{STORE_PATH}/{{name}}", self._set),
            web.delete(f"{STORE_PATH}/{{name}}", self._delete),
        ]

    async def _list(self, _: web.Request) -> web.Response:
        found = sorted(self.store.secrets.items())
        items = [self._described(name, stored) for name, stored in found]
        return _json({"apiVersion": names.API_VERSION, "kind": "SecretList", "items": items})

    async def _get(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        stored = self.store.secrets.get(name)
        if stored is None:
            return _unknown(name)
        value, path = stored.value, ""
        if isinstance(value, Reference):
            path = value.path
            try:
                value = (await read_vault(self.vault, name, value)).value
            except HttpRefusal as refusal:
                self.audit.record(
                    _caller(request), "read", "failed", secret=name, path=path, reason=refusal.step
                )
                return _refusal(refusal.status, refusal.error, refusal.remedy)
        self.audit.record(
            _caller(request), "read", "granted", secret=name, path=path, version=stored.version
        )
        return _json({**self._document(name, stored), "value": value.reveal()})

    async def _set(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        peer = accepted_peer_of(request)
        if not isinstance(peer, Peer):
            return _refusal(403, "the kernel does not name this caller", "call from this machine")
        try:
            wanted = msgspec.json.decode(await request.read(), type=SetRequest)
            value = _value(wanted)
            rules = checked_rules(wanted.rules)
            before = self.store.secrets.get(name)
            with self._failure_recorded(request, "set"):
                stored = await self.store.set(
                    name,
                    value,
                    rules=rules,
                    owner=peer.uid,
                    in_file=wanted.in_file,
                )
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            # Without the decoder's message, which may quote the value.
            return _refusal(
                400, "this is not a secret to store", 'send {"value": "…", "rules": []}'
            )
        except StoredSecretError as error:
            self.audit.record(_caller(request), "set", "denied", secret=name, reason="declaration")
            return _refusal(400, str(error), "see `nemutator secret set --help`")
        if before is not None and before.value != stored.value:
            self._forget(name)
        path = value.path if isinstance(value, Reference) else ""
        self.audit.record(
            _caller(request), "set", "granted", secret=name, path=path, version=stored.version
        )
        return _json(self._document(name, stored))

    async def _delete(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        with self._failure_recorded(request, "delete"):
            deleted = await self.store.delete(name)
        if deleted is None:
            return _unknown(name)
        self._forget(name)
        self.audit.record(
            _caller(request), "delete", "granted", secret=name, version=deleted.version
        )
        return _json(self._document(name, deleted))

    def _forget(self, name: str) -> None:
        if self.vault is not None:
            self.vault.forget(name)

    @contextlib.contextmanager
    def _failure_recorded(self, request: web.Request, operation: Operation) -> Iterator[None]:
        try:
            yield
        except OperatorError:
            name = request.match_info["name"]
            self.audit.record(_caller(request), operation, "failed", secret=name, reason="disk")
            raise

    def _document(self, name: str, stored: StoredSecret) -> dict[str, object]:
        return {
            "apiVersion": names.API_VERSION,
            "kind": "Secret",
            **self._described(name, stored),
        }

    def _described(self, name: str, stored: StoredSecret) -> dict[str, object]:
        return {
            "name": name,
            "version": stored.version,
            "changed_at": stored.changed_at,
            "rules": [str(rule) for rule in stored.rules],
            "vault": str(stored.value) if isinstance(stored.value, Reference) else "",
            "file": self.store.files.path_of(name) if stored.in_file else "",
        }


def _value(wanted: SetRequest) -> Secret | Reference:
    if (wanted.value is None) == (wanted.vault is None):
        raise StoredSecretError("expected either a value or a place in Vault")
    try:
        return (
            Secret(wanted.value)
            if wanted.value is not None
            else parse_reference(wanted.vault or "")
        )
    except ValueError as error:
        raise StoredSecretError(str(error)) from None


def with_link_token(directory: DataDirectory) -> Middleware:
    """A middleware that guards the paths of the store alone. A user who can read the link token may enter
    the data directory anyway."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path.startswith(STORE_PATH) and not _knows_link_token(request, directory):
            return _refusal(401, "the link token is missing or wrong", "use `nemutator secret`")
        return await handler(request)

    return check


def _knows_link_token(request: web.Request, directory: DataDirectory) -> bool:
    scheme, _, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        return False
    try:
        # It is read anew each time, because `nemutator up` renews it.
        token = read_link_token(directory)
    except OperatorError:
        return False
    # An empty file must not admit an empty token.
    return bool(token) and Secret(given.strip()) == token


def _caller(request: web.Request) -> AuditSubject:
    peer = accepted_peer_of(request)
    uid = peer.uid if isinstance(peer, Peer | UnknownPeer) else "?"
    return AuditSubject(caller=f"uid {uid} nemutator secret")


def _json(document: dict[str, object]) -> web.Response:
    return web.json_response(document, headers={"Cache-Control": "no-store"})


def _unknown(name: str) -> web.Response:
    return _refusal(404, f"there is no secret {name[:100]!r}", "`nemutator secret list` names them")


def _refusal(status: int, what: str, remedy: str) -> web.Response:
    return web.json_response({"error": what, "remedy": remedy}, status=status)
