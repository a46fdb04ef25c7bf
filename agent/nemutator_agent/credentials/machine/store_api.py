"""The API of `nemutator secret`: sets, gets, deletes and lists the secrets of a machine without Vault."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler, Middleware
from nemutator_common import names
from nemutator_common.data_directory import DataDirectory
from nemutator_common.data_directory_files import read_link_token
from nemutator_common.errors import OperatorError
from nemutator_common.secret import Secret
from nemutator_common.serving.connection import accepted_peer_of

from nemutator_agent.credentials.audit import Audit, AuditSubject, Operation
from nemutator_agent.credentials.connection_peer import UnknownPeer
from nemutator_agent.credentials.machine.secret_store import SecretStore
from nemutator_agent.credentials.machine.stored_secrets import (
    StoredSecret,
    StoredSecretError,
    checked_rules,
)
from nemutator_agent.identity.peers import Peer

STORE_PATH = "/v1/store/secrets"


class SetRequest(msgspec.Struct, forbid_unknown_fields=True):
    value: str
    rules: list[str] = []
    in_file: bool | None = None
    """Whether to keep it in a file, too; None leaves that as it is."""


@dataclass(frozen=True, slots=True)
class StoreApi:
    store: SecretStore
    audit: Audit

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
        self.audit.record(_caller(request), "read", "granted", secret=name, version=stored.version)
        return _json({**self._document(name, stored), "value": stored.value.reveal()})

    async def _set(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        peer = accepted_peer_of(request)
        if not isinstance(peer, Peer):
            return _refusal(403, "the kernel does not name this caller", "call from this machine")
        try:
            wanted = msgspec.json.decode(await request.read(), type=SetRequest)
            rules = checked_rules(wanted.rules)
            with self._failure_recorded(request, "set"):
                stored = await self.store.set(
                    name,
                    Secret(wanted.value),
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
        self.audit.record(_caller(request), "set", "granted", secret=name, version=stored.version)
        return _json(self._document(name, stored))

    async def _delete(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        with self._failure_recorded(request, "delete"):
            deleted = await self.store.delete(name)
        if deleted is None:
            return _unknown(name)
        self.audit.record(
            _caller(request), "delete", "granted", secret=name, version=deleted.version
        )
        return _json(self._document(name, deleted))

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
            "file": self.store.files.path_of(name) if stored.in_file else "",
        }


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
