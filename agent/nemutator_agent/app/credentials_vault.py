"""All that asks Vault, put together."""

from dataclasses import dataclass
from pathlib import Path

from nemutator_common.process import Process
from nemutator_common.supervising import STOP_S

from nemutator_agent.credentials.audit import Audit
from nemutator_agent.credentials.pods.ended_pods import ended_pods
from nemutator_agent.credentials.vault.broker import Broker
from nemutator_agent.credentials.vault.calls import JOB_S, VaultCalls
from nemutator_agent.credentials.vault.hvac_client import HvacVault
from nemutator_agent.credentials.vault.hvac_session import HvacSession
from nemutator_agent.credentials.vault.ledger import LedgerFile
from nemutator_agent.credentials.vault.orphaned_tokens import OrphanedTokens
from nemutator_agent.credentials.vault.revocations import Revocations
from nemutator_agent.settings.credentials import CredentialsSettings


@dataclass(frozen=True, slots=True)
class AskedVault:
    broker: Broker
    session: HvacSession
    ledger: LedgerFile

    def close(self) -> None:
        self.session.close()
        self.ledger.close()


def ask_vault(process: Process, settings: CredentialsSettings, audit: Audit) -> AskedVault:
    """All that asks Vault, in the supervisor of *process*."""
    session = HvacSession(
        settings.vault_address,
        ca_file=Path(settings.vault_ca_file) if settings.vault_ca_file else None,
        namespace=settings.vault_namespace,
        call_s=settings.vault_call_s,
    )
    vault = HvacVault(session, auth_mount=settings.auth_mount, job_s=JOB_S)
    calls = VaultCalls(vault, process, deadline_s=settings.vault_call_s)
    ledger = LedgerFile(process.directory.root, process)
    revocations = Revocations(calls, audit, ledger, process)
    orphans = OrphanedTokens(
        ledger.left,
        ledger.unfinished,
        revocations,
        ended_pods,
        process,
        wait_s=settings.orphans_s,
        leases=ledger.left_leases,
    )
    broker = Broker(
        calls,
        audit,
        revocations,
        orphans,
        ledger,
        process,
        fresh_s=settings.fresh_s,
        stale_s=settings.stale_s,
        wait_s=settings.vault_call_s,
        drain_s=JOB_S,
    )
    process.supervisor.add("probe Vault", calls.circuit.run)
    process.supervisor.add("revoke tokens", revocations.run)
    process.supervisor.add("adopt tokens", orphans.run)
    process.supervisor.add("ask Vault", broker.run, stop_s=JOB_S + STOP_S)
    return AskedVault(broker, session, ledger)
