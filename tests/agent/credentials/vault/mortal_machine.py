"""What outlives a process that is killed, for tests of what it leaves behind."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from nemutator_agent.credentials.vault.accounts import account
from nemutator_agent.credentials.vault.ledger import LedgerFile
from nemutator_agent.publications import PublishedPod
from nemutator_common import names

from tests.fakes.brokers import BrokerSetup
from tests.fakes.clocks import ManualClock
from tests.fakes.ledgers import Fate, MortalLedger, MortalVault
from tests.fakes.meters import MemoryMeter
from tests.fakes.peers import POD
from tests.fakes.process import fake_process
from tests.fakes.vault_states import Engine, VaultState

PATH = "secret/app/db"
LENT = "database/creds/app"
TERM_S = 90


class Machine:
    """What outlives the process: Vault, the wall clock, and the ledger's directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.vault = VaultState()
        self.vault.write(PATH, {"password": "first"})
        self.vault.engines["database/"] = Engine(None)
        self.vault.lease_s[LENT] = TERM_S
        self.now = 1_700_000_000.0
        self.allow(POD)

    def allow(self, pod: PublishedPod, *, ttl_s: int = 3600) -> None:
        role = account(pod, None).role
        self.vault.role(role, f"the-jwt-{pod.uid}", [PATH, LENT], ttl_s=ttl_s)

    @property
    def alive(self) -> set[str]:
        """Tokens, at Vault."""
        return set(self.vault.tokens)

    @contextlib.asynccontextmanager
    async def life(self, fate: Fate | None = None) -> AsyncIterator[BrokerSetup]:
        fate = fate or Fate()
        clock, meter = ManualClock(self.now), MemoryMeter()
        file = LedgerFile(self.folder, fake_process(clock=clock, meter=meter))
        setup = BrokerSetup(
            vault=MortalVault(self.vault, fate),
            clock=clock,
            meter=meter,
            ledger=MortalLedger(file, fate),
            left=file.left,
            left_leases=file.left_leases,
            unfinished=file.unfinished,
        )
        try:
            async with setup.running():
                yield setup
        finally:
            file.close()
            self.now = clock.now()


def recovered(setup: BrokerSetup, result: str) -> float:
    return setup.meter.value(names.RECOVERED_TOKENS, result=result)
