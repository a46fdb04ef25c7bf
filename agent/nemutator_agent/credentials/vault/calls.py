"""Gives every call to Vault a deadline, counts it, and makes none while Vault fails for everybody."""

import asyncio
import copy
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import KW_ONLY, dataclass, field
from typing import TypeVar

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.secret import Secret
from nemutator_common.traces import Span

from nemutator_agent.credentials.ports import NamespacedVault
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.documents import Document, EngineMount
from nemutator_agent.credentials.vault.exchanges import VaultAnswer, VaultExchange
from nemutator_agent.credentials.vault.failures import VaultError, VaultUnavailableError
from nemutator_agent.credentials.vault.leases import Lease
from nemutator_agent.credentials.vault.login_proofs import LoginProof
from nemutator_agent.credentials.vault.probing import VaultCircuit

T = TypeVar("T")

JOB_S = 20.0
"""For a login and a revocation, which go on when nobody waits for them any more: what Vault has begun is
lost if nobody takes the answer. It fits into the time that kubelet gives a process to end."""

LATER_S = 3.0
"""A job's own deadline comes first, because only its thread knows whether Vault has answered."""


@dataclass(eq=False, slots=True)
class VaultCalls:
    """A `Vault` that asks another one."""

    vault: NamespacedVault
    process: Process
    _: KW_ONLY
    deadline_s: float
    """Of a call for which somebody waits."""
    caller: Hashable = None
    """In whose name it is asked."""
    circuit: VaultCircuit = field(init=False)

    def __post_init__(self) -> None:
        self.circuit = VaultCircuit(self.process, self.health)

    def of(self, account: Account) -> "VaultCalls":
        """The same, in the name of the account's pod: its failures alone are not those of the node."""
        mine = copy.copy(self)
        if account.vault_namespace:
            mine.vault = self.vault.within(account.vault_namespace)
        mine.caller = account.pod.uid
        return mine

    async def health(self) -> None:
        """Whether Vault is well; raises a VaultUnavailableError."""
        await self._counted("health", self.vault.health, self.deadline_s)

    async def login(self, role: str, proof: LoginProof) -> Lease:
        return await self._call("login", lambda: self.vault.login(role, proof), JOB_S + LATER_S)

    async def renew(self, token: Secret) -> Lease:
        return await self._call("renew", lambda: self.vault.renew(token), self.deadline_s)

    async def revoke(self, token: Secret) -> None:
        await self._call("revoke", lambda: self.vault.revoke(token), JOB_S + LATER_S)

    async def lookup(self, token: Secret) -> None:
        await self._call("lookup", lambda: self.vault.lookup(token), self.deadline_s)

    async def mount_of(self, token: Secret, path: str) -> EngineMount:
        return await self._call("mount", lambda: self.vault.mount_of(token, path), self.deadline_s)

    async def read(self, token: Secret, mount: EngineMount, path: str) -> Document:
        return await self._call(
            "read", lambda: self.vault.read(token, mount, path), self.deadline_s
        )

    async def exchange(self, token: Secret, asked: VaultExchange) -> VaultAnswer:
        return await self._call(
            "exchange", lambda: self.vault.exchange(token, asked), self.deadline_s
        )

    async def _call(self, operation: str, call: Callable[[], Awaitable[T]], deadline_s: float) -> T:
        self.circuit.check(self.caller)
        try:
            answer = await self._counted(operation, call, deadline_s)
        except VaultUnavailableError as error:
            self.circuit.failed(self.caller, error)
            raise
        except VaultError:
            self.circuit.succeeded()
            raise
        except BaseException:
            self.circuit.left(self.caller)
            raise
        self.circuit.succeeded()
        return answer

    async def _counted(
        self, operation: str, call: Callable[[], Awaitable[T]], deadline_s: float
    ) -> T:
        with self.process.tracer.span(names.VAULT_SPAN) as span:
            return await self._measured(operation, call, deadline_s, span)

    async def _measured(
        self, operation: str, call: Callable[[], Awaitable[T]], deadline_s: float, span: Span
    ) -> T:
        begun = self.process.clock.monotonic()
        result = "cancelled"
        try:
            async with asyncio.timeout(deadline_s):
                answer = await call()
            result = "done"
        except TimeoutError:
            result = "timeout"
            why = f"no answer within {deadline_s:g} s"
            raise VaultUnavailableError("timeout", why) from None
        except VaultError as error:
            result = error.reason if isinstance(error, VaultUnavailableError) else error.kind
            raise
        finally:
            span.note(operation=operation, result=result)
            self.process.meter.count(names.VAULT_CALLS, operation=operation, result=result)
            self.process.meter.observe(
                names.VAULT_CALL_SECONDS,
                self.process.clock.monotonic() - begun,
                operation=operation,
            )
        return answer
