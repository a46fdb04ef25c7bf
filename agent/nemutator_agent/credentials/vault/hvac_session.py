"""The way to Vault that all calls share: hvac with one HTTP session, one TLS context and a few threads.

hvac's calls block, so they run in threads. No environment variable and no file of a user has an effect
here (proxies, .netrc, VAULT_TOKEN): only the settings say where Vault is and whom to trust.
"""

import asyncio
import ssl
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any, TypeVar

import hvac  # type: ignore[import-untyped]
import requests
from hvac import adapters
from nemutator_common.errors import ExitCode, OperatorError
from nemutator_common.secret import Secret
from requests.adapters import HTTPAdapter

from nemutator_agent.credentials.vault.failures import VaultUnavailableError
from nemutator_agent.credentials.vault.hvac_failures import NOT_OF_VAULT, mapped

T = TypeVar("T")

THREADS = 8
"""A node reads rarely: what pods declare is read when they start, and kept."""

MOST_WAITING = 256
"""Calls that may wait for a thread; further ones fail at once as if Vault were too busy."""

CONNECT_S = 3.0


class HvacSession:
    """Gives each call a light client of its own, and a thread; `close()` it at the end."""

    def __init__(
        self, address: str, *, ca_file: Path | None, namespace: str, call_s: float
    ) -> None:
        self._address = address
        self._namespace = namespace or None
        self._timeout = (CONNECT_S, call_s)
        self._session = _session(ca_file)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="vault")
        self._waiting = 0

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._session.close()

    def client(self, token: Secret | None) -> Any:
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

    async def run(self, call: Callable[[], T]) -> T:
        """The result of *call*, which runs in a thread; raises a VaultError."""
        if self._waiting >= MOST_WAITING:
            raise VaultUnavailableError("busy", f"{MOST_WAITING} calls wait for it already")
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._threads, mapped, call)
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
