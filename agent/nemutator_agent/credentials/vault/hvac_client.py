"""Vault, through hvac: one session and one TLS context for all, one light client for each call.

hvac's calls block, so they run in a few threads. No environment variable and no file of a user has an
effect here (proxies, .netrc, VAULT_TOKEN): only the settings say where Vault is and whom to trust.
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any, TypeVar

import hvac  # type: ignore[import-untyped]
import requests
from hvac import adapters, exceptions
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret
from requests.adapters import HTTPAdapter

from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.failures import (
    LoginRefusedError,
    Outage,
    SecretMissingError,
    TokenGoneError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.leases import Lease

T = TypeVar("T")

THREADS = 8
"""A node reads rarely: what pods declare is read when they start, and kept."""

MOST_WAITING = 256
"""Calls that may wait for a thread; further ones fail at once as if Vault were too busy."""

CONNECT_S = 3.0
LARGEST_DOCUMENT = 256 << 10

NOT_OF_VAULT = "the answer does not come from a Vault"
_GONE = ("invalid token", "bad token")
_UNKNOWN_ISSUER = "the certificate of Vault was not accepted"


class HvacVault:
    """Fulfils the port `Vault`; `close()` it at the end."""

    def __init__(
        self,
        address: str,
        *,
        ca_file: Path | None,
        namespace: str,
        auth_mount: str,
        call_s: float,
    ) -> None:
        self._address = address
        self._namespace = namespace or None
        self._auth_mount = auth_mount
        self._timeout = (CONNECT_S, call_s)
        self._session = _session(ca_file)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="vault")
        self._waiting = 0

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._session.close()

    async def login(self, role: str, jwt: Secret) -> Lease:
        def call() -> Lease:
            try:
                answer = self._client(None).auth.kubernetes.login(
                    role, jwt.reveal(), use_token=False, mount_point=self._auth_mount
                )
            except _NO as error:
                _check_vault_says(error)
                raise LoginRefusedError(_reason(error)) from None
            return _lease(answer)

        return await self._run(call)

    async def renew(self, token: Secret) -> Lease:
        return await self._run(lambda: _lease(self._client(token).auth.token.renew_self()))

    async def revoke(self, token: Secret) -> None:
        await self._run(lambda: _check_done(self._client(token).auth.token.revoke_self()))

    async def mount_of(self, token: Secret, path: str) -> EngineMount:
        return await self._run(lambda: self._mount_of(token, path))

    async def read(self, token: Secret, mount: EngineMount, path: str) -> Document:
        return await self._run(lambda: self._read(token, mount, path))

    # --- in a thread ----------------------------------------------------------------------------
    def _mount_of(self, token: Secret, path: str) -> EngineMount:
        try:
            answer = self._client(token).adapter.get(f"/v1/sys/internal/ui/mounts/{path}")
        except exceptions.InvalidPath as error:
            _check_vault_says(error)
            # A Vault from before 0.10 knows neither this path nor version 2 of KV.
            return EngineMount(path.partition("/")[0] + "/", 1)
        except exceptions.Forbidden as error:
            _check_vault_says(error)
            if _is_gone(error):
                raise
            why = "no policy of the role reaches into this mount, or there is no such mount"
            raise VaultDeniedError(f"{why} ({_reason(error)})") from None
        data = _mapping(_mapping(answer).get("data"))
        where, kind = data.get("path"), data.get("type")
        if not isinstance(where, str) or not where or not isinstance(kind, str):
            raise VaultUnavailableError("malformed", "the answer names no mount of the path")
        if kind not in ("kv", "generic"):
            raise UnsupportedSecretError(f"{where} is an engine of kind {kind}, and not KV")
        if not path.startswith(where):
            raise VaultUnavailableError("malformed", "the answer names the mount of another path")
        options = data.get("options")
        version = options.get("version") if isinstance(options, Mapping) else None
        return EngineMount(where, 2 if version == "2" else 1)

    def _read(self, token: Secret, mount: EngineMount, path: str) -> Document:
        engines = self._client(token).secrets.kv
        below, at = path.removeprefix(mount.path), mount.path.rstrip("/")
        if mount.version == 1:
            answer = engines.v1.read_secret(path=below, mount_point=at)
            document = Document.of(_mapping(_mapping(answer).get("data")), None)
        else:
            answer = engines.v2.read_secret_version(
                path=below, mount_point=at, raise_on_deleted_version=True
            )
            data = _mapping(_mapping(answer).get("data"))
            version = _mapping(data.get("metadata")).get("version")
            document = Document.of(
                _mapping(data.get("data")), version if isinstance(version, int) else None
            )
        if document.size > LARGEST_DOCUMENT:
            raise UnsupportedSecretError(f"it is larger than {LARGEST_DOCUMENT >> 10} KiB")
        return document

    def _client(self, token: Secret | None) -> Any:
        return hvac.Client(
            url=self._address,
            # Without a value, hvac would look into the environment and the home directory.
            token=token.reveal() if token is not None else "",
            session=self._session,
            adapter=_Adapter,
            namespace=self._namespace,
            timeout=self._timeout,
            # The token would go wherever a redirection points.
            allow_redirects=False,
        )

    # --- in the event loop ----------------------------------------------------------------------
    async def _run(self, call: Callable[[], T]) -> T:
        if self._waiting >= MOST_WAITING:
            raise VaultUnavailableError("busy", f"{MOST_WAITING} calls wait for it already")
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, _mapped, call)
        finally:
            self._waiting -= 1


class _Adapter(adapters.JSONAdapter):  # type: ignore[misc]
    """hvac itself fails on a refusal whose JSON is not of Vault's shape."""

    def request(self, *positional: Any, **named: Any) -> Any:
        try:
            return super().request(*positional, **named)
        except (AttributeError, TypeError):
            raise VaultUnavailableError("malformed", NOT_OF_VAULT) from None


class _OneContext(HTTPAdapter):
    """Gives all connections one TLS context: one for each would cost up to 0.7 MiB and 80 ms."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context
        super().__init__(pool_connections=1, pool_maxsize=THREADS, max_retries=0)

    def init_poolmanager(self, *positional: Any, **named: Any) -> None:
        super().init_poolmanager(*positional, **named, ssl_context=self._context)

    def build_connection_pool_key_attributes(
        self, request: Any, verify: Any, cert: Any = None
    ) -> Any:
        where, _ = super().build_connection_pool_key_attributes(request, verify, cert)
        return where, {"ssl_context": self._context}

    def cert_verify(self, conn: Any, url: Any, verify: Any, cert: Any) -> None:
        """The original would add the public certificate authorities to the context."""


def _session(ca_file: Path | None) -> requests.Session:
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:
        raise OperatorError(
            f"certificate authority of Vault: {ca_file}: {error.strerror or error}"
            if isinstance(error, OSError)
            else f"certificate authority of Vault: {ca_file}: {error}",
            remedy="name a readable file with PEM certificates in credentials.vault_ca_file",
            code=ExitCode.SETTINGS,
        ) from error
    session = requests.Session()
    session.trust_env = False
    # A balancer's cookie from one pod's call would be sent with the calls of all others.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    session.mount("https://", _OneContext(context))
    session.mount("http://", HTTPAdapter(pool_connections=1, pool_maxsize=THREADS, max_retries=0))
    return session


_NO = (
    exceptions.InvalidRequest,
    exceptions.Unauthorized,
    exceptions.Forbidden,
    exceptions.InvalidPath,
)


def _mapped(call: Callable[[], T]) -> T:
    """Run *call*; what hvac and requests raise becomes a VaultError, which keeps nothing of theirs."""
    try:
        return call()
    except VaultError:
        raise
    except requests.exceptions.Timeout:
        failure: VaultError = VaultUnavailableError("timeout", "no answer in time")
    except requests.exceptions.SSLError:
        failure = VaultUnavailableError("tls", _UNKNOWN_ISSUER)
    except requests.exceptions.RequestException as error:
        failure = VaultUnavailableError("down", f"no connection ({type(error).__name__})")
    except exceptions.VaultError as error:
        failure = _failure(error)
    raise failure


def _failure(error: exceptions.VaultError) -> VaultError:
    if isinstance(error, _NO) and not _is_of_vault(error):
        return VaultUnavailableError("malformed", NOT_OF_VAULT)
    why = _reason(error)
    match error:
        case exceptions.Forbidden() | exceptions.Unauthorized():
            return TokenGoneError(why) if _is_gone(error) else VaultDeniedError(why)
        case exceptions.InvalidPath():
            return SecretMissingError("no version of a secret is there")
        case exceptions.InvalidRequest():
            return VaultDeniedError(why)
    outage: Outage = "down"
    if isinstance(error, exceptions.RateLimitExceeded):
        outage = "busy"
    elif isinstance(error, exceptions.VaultNotInitialized) or "sealed" in why.lower():
        outage = "sealed"
    return VaultUnavailableError(outage, why)


def _check_vault_says(no: exceptions.VaultError) -> None:
    """A proxy's own 403 or 404 says nothing of what Vault would answer."""
    if not _is_of_vault(no):
        raise VaultUnavailableError("malformed", NOT_OF_VAULT)


def _is_of_vault(no: exceptions.VaultError) -> bool:
    """Vault gives its errors as a list; for a deleted version it gives the metadata."""
    answer = no.json
    return isinstance(answer, Mapping) and ("errors" in answer or "data" in answer)


def _check_done(answer: Any) -> None:
    """Vault answers what it has done with 204, or with a document that has a number of its own."""
    if isinstance(answer, requests.Response) and answer.status_code == requests.codes.no_content:
        return
    if "request_id" not in _mapping(answer):
        raise VaultUnavailableError("malformed", NOT_OF_VAULT)


def _is_gone(error: Exception) -> bool:
    return any(word in _reason(error).lower() for word in _GONE)


def _reason(error: Exception) -> str:
    """Vault's own message, without the URL that hvac adds."""
    return str(error.args[0]) if error.args and error.args[0] else type(error).__name__


def _lease(answer: Any) -> Lease:
    auth = _mapping(_mapping(answer).get("auth"))
    token, ttl = auth.get("client_token"), auth.get("lease_duration")
    if not isinstance(token, str) or not token or not isinstance(ttl, int):
        raise VaultUnavailableError("malformed", "the answer has no token")
    return Lease(Secret(token), float(ttl), auth.get("renewable") is True)


def _mapping(answer: Any) -> Mapping[str, Any]:
    """The answer as a mapping; for a redirection, hvac returns the bare response."""
    if isinstance(answer, requests.Response) and answer.is_redirect:
        why = (
            "the answer leads to another address, as of a standby that cannot forward to its active"
        )
        raise VaultUnavailableError("malformed", f"{why} node; it is not followed with a token")
    if not isinstance(answer, Mapping):
        raise VaultUnavailableError("malformed", NOT_OF_VAULT)
    return answer
