"""Where the suite finds a Vault: the fake one, and with `make e2e` the testbed's real one."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from nemutator_agent.credentials.vault.hvac_client import HvacVault
from nemutator_agent.credentials.vault.hvac_session import HvacSession
from nemutator_common.secret import Secret

from tests.fakes.vault_states import VaultState
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.namespaces import new_namespace
from tests.testbed.parts.vault import Vault
from tests.testbed.running.waiting import until

PATIENCE_S = 60.0


class Place(Protocol):
    @property
    def plain(self) -> bool:
        """It says of a token that is gone what it says of a denial, as OpenBao does."""
        ...

    @property
    def folder(self) -> str:
        """Of this test alone, in each engine."""
        ...

    def write(self, path: str, data: dict[str, Any]) -> None: ...

    def delete(self, path: str) -> None:
        """The newest version."""
        ...

    def account(self, *, reads: Sequence[str], batch: bool = False) -> tuple[str, Secret]:
        """A role, and a token to log in with; *batch*: Vault's own tokens of it are batch tokens."""
        ...

    def seal(self) -> None: ...

    def unseal(self) -> None: ...


class FakePlace:
    folder = "test"

    def __init__(self, vault: VaultState) -> None:
        self.vault = vault
        self.plain = vault.plain

    def write(self, path: str, data: dict[str, Any]) -> None:
        self.vault.write(path, data)

    def delete(self, path: str) -> None:
        self.vault.delete(path)

    def account(self, *, reads: Sequence[str], batch: bool = False) -> tuple[str, Secret]:
        self.vault.role("app", "the-jwt", reads, batch=batch)
        return "app", Secret("the-jwt")

    def seal(self) -> None:
        self.vault.sealed = True

    def unseal(self) -> None:
        self.vault.sealed = False


class RealPlace:
    def __init__(self, vault: Vault, namespace: str) -> None:
        self._vault = vault
        self.plain = vault.is_openbao
        self.folder = namespace

    def write(self, path: str, data: dict[str, Any]) -> None:
        if path.startswith("kv1/"):
            self._vault.call("PUT", path, data)
        else:
            self._vault.call("POST", _data(path), {"data": data})

    def delete(self, path: str) -> None:
        self._vault.call("DELETE", _data(path))

    def account(self, *, reads: Sequence[str], batch: bool = False) -> tuple[str, Secret]:
        role = f"{self.folder}.default"
        # Vault knows no policy without a rule.
        paths = [_data(path) for path in reads] or [f"secret/data/{self.folder}/nothing"]
        rules = "".join(f'path "{path}" {{ capabilities = ["read"] }}\n' for path in paths)
        self._vault.policy(role, rules)
        self._vault.role(role, namespace=self.folder, service_account="default", policies=[role])
        if batch:
            self._vault.call("POST", f"auth/kubernetes/role/{role}", {"token_type": "batch"})
        jwt = self._vault.cluster.token(self.folder, "default", audience="vault")
        return role, Secret(jwt)

    def seal(self) -> None:
        self._vault.seal()

    def unseal(self) -> None:
        self._vault.unseal()


@contextmanager
def real_place(vault: Vault, cluster: Cluster) -> Iterator[RealPlace]:
    """In a namespace of its own; the engines that the testbed's Vault lacks are mounted first."""
    mounts = vault.call("GET", "sys/mounts")["data"]
    if "kv1/" not in mounts:
        vault.call("POST", "sys/mounts/kv1", {"type": "kv", "options": {"version": "1"}})
    if "transit/" not in mounts:
        vault.call("POST", "sys/mounts/transit", {"type": "transit"})
    with new_namespace(cluster) as namespace:
        yield RealPlace(vault, namespace)


@contextmanager
def adapter(
    url: str,
    *,
    ca_file: Path | None = None,
    namespace: str = "",
    call_s: float = 10.0,
    auth_mount: str = "kubernetes",
) -> Iterator[HvacVault]:
    session = HvacSession(url, ca_file=ca_file, namespace=namespace, call_s=call_s)
    try:
        yield HvacVault(session, auth_mount=auth_mount, job_s=10.0)
    finally:
        session.close()


async def eventually(holds: Callable[[], object], what: str) -> None:
    """Wait for what a thread or another process does."""
    await asyncio.to_thread(until, holds, what, within_s=PATIENCE_S)


def _data(path: str) -> str:
    mount, _, below = path.partition("/")
    return f"secret/data/{below}" if mount == "secret" else path
