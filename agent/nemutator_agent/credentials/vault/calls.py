"""Every call to Vault has a deadline, and is counted."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.secret import Secret

from nemutator_agent.credentials.ports import Vault
from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.failures import VaultError, VaultUnavailableError
from nemutator_agent.credentials.vault.leases import Lease

T = TypeVar("T")


class VaultCalls:
    """A `Vault` in front of another one."""

    def __init__(self, vault: Vault, *, deadline_s: float, clock: Clock, meter: Meter) -> None:
        self._vault = vault
        self._deadline_s = deadline_s
        self._clock = clock
        self._meter = meter

    async def login(self, role: str, jwt: Secret) -> Lease:
        return await self._call("login", self._vault.login(role, jwt))

    async def renew(self, token: Secret) -> Lease:
        return await self._call("renew", self._vault.renew(token))

    async def revoke(self, token: Secret) -> None:
        await self._call("revoke", self._vault.revoke(token))

    async def mount_of(self, token: Secret, path: str) -> EngineMount:
        return await self._call("mount", self._vault.mount_of(token, path))

    async def read(self, token: Secret, mount: EngineMount, path: str) -> Document:
        return await self._call("read", self._vault.read(token, mount, path))

    async def _call(self, operation: str, call: Coroutine[Any, Any, T]) -> T:
        begun = self._clock.monotonic()
        result = "cancelled"
        try:
            async with asyncio.timeout(self._deadline_s):
                answer = await call
            result = "done"
        except TimeoutError:
            result = "timeout"
            why = f"no answer within {self._deadline_s:g} s"
            raise VaultUnavailableError("timeout", why) from None
        except VaultError as error:
            result = error.reason if isinstance(error, VaultUnavailableError) else error.kind
            raise
        finally:
            self._meter.count(names.VAULT_CALLS, operation=operation, result=result)
            self._meter.observe(
                names.VAULT_CALL_SECONDS, self._clock.monotonic() - begun, operation=operation
            )
        return answer
