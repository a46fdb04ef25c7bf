"""Reads what is no document of KV, and holds what Vault lends: one lease for all who ask."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.leases import certificates, kept_documents
from nemutator_agent.credentials.leases.answers import lease_of
from nemutator_agent.credentials.leases.leased_documents import LeasedDocument
from nemutator_agent.credentials.ports import Ledger, Vault
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.exchanges import VaultAnswer
from nemutator_agent.credentials.vault.failures import TokenShownError, UnsupportedSecretError
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.credentials.vault.single_flight import SingleFlight


@dataclass(frozen=True, slots=True)
class EngineReading:
    leased: LeasedDocument | None
    """What is lent and held."""
    answer: VaultAnswer | None = None
    """Vault's own, where it was asked."""


@dataclass(eq=False, slots=True)
class EngineReads:
    ledger: Ledger
    process: Process
    _reads: SingleFlight[EngineReading] = field(init=False)

    def __post_init__(self) -> None:
        self._reads = SingleFlight("read from an engine", self.process.clock)

    async def run(self) -> None:
        await self._reads.run()

    async def read(
        self, vault: Vault, token: Secret, session: VaultSession, path: str
    ) -> EngineReading:
        """What is lent at *path* until it is due, else Vault's answer; raises a VaultError.

        Whoever asks while Vault is asked gets the same answer, so no lease is left that is not held.
        """
        return await self._reads.join(
            (session.account.key, path), lambda: self._read(vault, token, session, path)
        )

    async def _read(
        self, vault: Vault, token: Secret, session: VaultSession, path: str
    ) -> EngineReading:
        since = self.process.clock.monotonic()
        leased = session.lent(path, since)
        if leased is not None and not leased.holding.is_due(since):
            return EngineReading(leased)
        leased = await self._recovered(vault, token, session, path)
        if leased is not None:
            return EngineReading(leased)
        answer = await vault.exchange(token, certificates.asked(path))
        if token.reveal() in answer.body.reveal():
            raise TokenShownError
        data, lease = answer.document.get("data"), lease_of(answer.document)
        if answer.status >= 400 or not isinstance(data, Mapping):
            return EngineReading(None, answer)
        if certificates.is_issued(path):
            lease = lease or certificates.term_of(data, self.process.clock.now())
            data = certificates.with_chain(data)
            if lease is None:
                # It would be made again with each reading.
                raise UnsupportedSecretError("what was made has no lease, and no end that is known")
        if lease is None:
            return EngineReading(None, answer)
        document = Document.of(data, None, lease=lease)
        return EngineReading(self._held(token, session, path, document, since), answer)

    async def _recovered(
        self, vault: Vault, token: Secret, session: VaultSession, path: str
    ) -> LeasedDocument | None:
        """What an earlier run has lent there, where Vault has kept it."""
        leases = session.recovered_at(path, self.process.clock.monotonic())
        if not leases or path in session.leased:
            return None
        answer = await vault.exchange(token, kept_documents.asking(path))
        for lease in leases:
            document = kept_documents.kept_document(answer, lease)
            if document is not None:
                return session.adopt(lease, document, self.process.clock.monotonic())
        return None

    def _held(
        self, token: Secret, session: VaultSession, path: str, document: Document, since: float
    ) -> LeasedDocument | None:
        before = session.leased.get(path)
        roll = self.process.dice.random()
        leased = session.hold(path, document, since, token=token, roll=roll)
        if leased is None:
            return None
        # Before anybody gets it. The older one is good to its end, and nobody renews it any more.
        if leased.lease_id:
            leased.entry = self.ledger.lend(path, leased.holding, leased.token)
        if before is not None:
            self.ledger.end_lease(before.entry)
        return leased
