"""A broker that runs, with a Vault in memory behind it and a clock that stands still."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nemutator_agent.credentials.audit import Audit
from nemutator_agent.credentials.ports import Ledger, NamespacedVault
from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.broker import Broker
from nemutator_agent.credentials.vault.calls import VaultCalls
from nemutator_agent.credentials.vault.ledger_records import LedgerLease, LedgerToken, LoginIntent
from nemutator_agent.credentials.vault.orphaned_tokens import OrphanedTokens
from nemutator_agent.credentials.vault.revocations import Revocations
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.publications import PublishedPod
from nemutator_common.secret import Secret

from tests.fakes.clocks import ManualClock
from tests.fakes.ledgers import MemoryLedger
from tests.fakes.meters import MemoryMeter
from tests.fakes.peers import POD, RecordedGrants
from tests.fakes.process import fake_process
from tests.fakes.vaults import MemoryVault

PATIENCE_S = 60.0
FRESH_S = 60.0
STALE_S = 600.0
WAIT_S = 5.0
ORPHANS_S = 120.0
JWT = "the-jwt"


def home_of(pod: PublishedPod) -> str:
    return f"/volumes/{pod.uid}"


@dataclass
class FakeEndedPods:
    """Pods whose directory is `removed` and that have no process."""

    removed: set[str] = field(default_factory=set)

    async def among(self, homes: Mapping[str, str]) -> Collection[str]:
        return {uid for uid, home in homes.items() if home in self.removed}


@dataclass
class BrokerSetup:
    vault: MemoryVault = field(default_factory=MemoryVault)
    clock: ManualClock = field(default_factory=ManualClock)
    meter: MemoryMeter = field(default_factory=MemoryMeter)
    grants: RecordedGrants = field(default_factory=RecordedGrants)
    ledger: Ledger = field(default_factory=MemoryLedger)
    left: Sequence[LedgerToken] = ()
    """By an earlier life."""
    left_leases: Sequence[LedgerLease] = ()
    ended_pods: FakeEndedPods = field(default_factory=FakeEndedPods)
    unfinished: Sequence[LoginIntent] = ()
    other_vault: NamespacedVault | None = None
    """Asked in place of the one in memory."""
    wait_s: float = WAIT_S

    def __post_init__(self) -> None:
        self.process = fake_process(clock=self.clock, meter=self.meter)
        self.audit = Audit(self.grants, node="n1", key=Secret("k"), clock=self.clock)
        self.vault_calls = calls = VaultCalls(
            self.other_vault or self.vault, deadline_s=PATIENCE_S, process=self.process
        )
        self.revocations = Revocations(calls, self.audit, self.ledger, process=self.process)
        self.orphans = OrphanedTokens(
            self.left,
            self.unfinished,
            self.revocations,
            self.ended_pods.among,
            wait_s=ORPHANS_S,
            leases=self.left_leases,
            process=self.process,
        )
        self.broker = Broker(
            calls,
            self.audit,
            self.revocations,
            self.orphans,
            self.ledger,
            fresh_s=FRESH_S,
            stale_s=STALE_S,
            wait_s=self.wait_s,
            drain_s=0.0,
            process=self.process,
        )

    @property
    def calls(self) -> dict[str, int]:
        return dict(self.vault.state.calls)

    def allow(self, *paths: str, pod: PublishedPod = POD, ttl_s: int = 3600) -> None:
        """Let the pod's own role read, with `JWT` as its account's token."""
        role = account(pod, None).role
        self.vault.state.role(role, f"{JWT}-{pod.uid}", paths, ttl_s=ttl_s)

    def session(
        self, pod: PublishedPod = POD, role: str | None = None, *, vault_namespace: str = ""
    ) -> VaultSession:
        wanted = account(pod, role, home=home_of(pod), vault_namespace=vault_namespace)
        session = self.broker.open(wanted)
        self.broker.refresh(session, Secret(f"{JWT}-{pod.uid}"))
        return session

    @contextlib.asynccontextmanager
    async def running(
        self, *more: Callable[[], Coroutine[Any, Any, None]]
    ) -> AsyncIterator["BrokerSetup"]:
        async with asyncio.timeout(PATIENCE_S), asyncio.TaskGroup() as tasks:
            bodies = (
                self.vault_calls.circuit.run,
                self.revocations.run,
                self.orphans.run,
                self.broker.run,
                *more,
            )
            running = [tasks.create_task(body()) for body in bodies]
            # The broker sleeps until renewals are due, and the orphans wait; by then all is ready.
            await self.clock.until_sleeping(3)
            try:
                yield self
            finally:
                for task in running:
                    task.cancel()
