"""The way to Vault that all calls share: hvac with one HTTP session, one TLS context and a few threads.

hvac's calls block, so they run in threads. No environment variable and no file of a user has an effect
here (proxies, .netrc, VAULT_TOKEN): only the settings say where Vault is and whom to trust.
"""

import asyncio
import copy
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.cookiejar import DefaultCookiePolicy
from pathlib import Path
from typing import Any, Generic, Literal, Self, TypeVar

import hvac  # type: ignore[import-untyped]
import requests
from hvac import adapters
from nemutator_common.secret import Secret

from nemutator_agent.credentials.vault.authorities import Authorities
from nemutator_agent.credentials.vault.documents import WrittenNumber
from nemutator_agent.credentials.vault.failures import VaultUnavailableError
from nemutator_agent.credentials.vault.hvac_failures import NOT_OF_VAULT, mapped
from nemutator_agent.credentials.vault.hvac_transport import VaultTransport, timeout

T = TypeVar("T")

Pool = Literal["reads", "logins", "revocations"]

THREADS: Mapping[Pool, int] = {"reads": 8, "logins": 8, "revocations": 16}
"""A node reads rarely: what pods declare is read when they start, and kept. Neither slow logins nor the
revocations of a drained node take the threads of readings."""

MOST_WAITING = 2048
"""Calls that may wait for a thread of one pool, as when all pods of a node start; further ones fail."""


class HvacSession:
    """Gives each call a light client of its own, and a thread; `close()` it at the end."""

    def __init__(
        self, address: str, *, ca_file: Path | None, namespace: str, call_s: float
    ) -> None:
        self._address = address
        self._namespace = namespace or None
        self._call_s = call_s
        self._session = _session(ca_file)
        self._pools = {
            pool: ThreadPoolExecutor(threads, thread_name_prefix=f"vault-{pool}")
            for pool, threads in THREADS.items()
        }
        self._waiting = Counter[Pool]()

    def close(self) -> None:
        for threads in self._pools.values():
            threads.shutdown(wait=False, cancel_futures=True)
        self._session.close()

    def within(self, namespace: str) -> Self:
        """The same way, threads and connections, to another namespace."""
        other = copy.copy(self)
        other._namespace = namespace
        return other

    def client(
        self,
        token: Secret | None,
        *,
        answer_s: float | None = None,
        adapter: type[adapters.Adapter] | None = None,
    ) -> Any:
        """For one call, which has *answer_s* from its connection to the last byte of the answer."""
        return hvac.Client(
            url=self._address,
            # Without a value, hvac would look into the environment and the home directory.
            token=token.reveal() if token is not None else "",
            session=self._session,
            adapter=adapter or JsonAdapter,
            namespace=self._namespace,
            timeout=timeout(answer_s or self._call_s),
            # The token would go wherever a redirection points.
            allow_redirects=False,
        )

    async def run(
        self,
        call: Callable[[], T],
        *,
        pool: Pool = "reads",
        undo: Callable[[T], None] | None = None,
    ) -> T:
        """The result of *call*, which runs in a thread; raises a VaultError.

        *undo* gets a result that comes when nobody waits for it any more.
        """
        if self._waiting[pool] >= MOST_WAITING:
            raise VaultUnavailableError("crowded", f"{MOST_WAITING} calls wait for it already")
        self._waiting[pool] += 1
        errand = _Errand(call, undo)
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pools[pool], mapped, errand.run)
        except asyncio.CancelledError:
            late = errand.leave()
            if late is not None:
                self._pools[pool].submit(late)
            raise
        finally:
            self._waiting[pool] -= 1


class _Errand(Generic[T]):
    """A call whose result may find nobody who waits for it; each result is taken or undone."""

    def __init__(self, call: Callable[[], T], undo: Callable[[T], None] | None) -> None:
        self._call = call
        self._undo = undo
        self._left = False
        self._late: Callable[[], None] | None = None
        self._lock = threading.Lock()

    def run(self) -> T:
        result = self._call()
        undo = self._undo
        with self._lock:
            left = self._left
            if undo is not None:
                self._late = lambda: undo(result)
        if left and undo is not None:
            undo(result)
        return result

    def leave(self) -> Callable[[], None] | None:
        """Nobody waits any more; returns what undoes a result that is there by now."""
        with self._lock:
            self._left = True
            return self._late


class JsonAdapter(adapters.JSONAdapter):  # type: ignore[misc]
    """hvac itself fails on a refusal whose JSON is not of Vault's shape."""

    number: type = float

    def request(self, *positional: Any, **named: Any) -> Any:
        try:
            response = adapters.RawAdapter.request(self, *positional, **named)
        except (AttributeError, TypeError):
            raise VaultUnavailableError("malformed", NOT_OF_VAULT) from None
        if response.status_code != HTTPStatus.OK:
            return response
        try:
            return json.loads(response.content.decode(), parse_float=self.number)
        except ValueError:
            return response


class AsWrittenAdapter(JsonAdapter):
    """Gives numbers that are no whole ones as Vault has written them."""

    number = WrittenNumber


def _session(ca_file: Path | None) -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    # A balancer's cookie from one pod's call would be sent with the calls of all others.
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    transport = VaultTransport(Authorities(ca_file), connections=sum(THREADS.values()))
    session.mount("https://", transport)
    session.mount("http://", transport)
    return session
