"""Asks Vault in the name of pods: one token for each account, one call for equal questions."""

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field, replace

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.audit import Audit, subject_of
from nemutator_agent.credentials.ports import Ledger, Vault
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.cache import CachedDenial, CachedDocument
from nemutator_agent.credentials.vault.documents import Document
from nemutator_agent.credentials.vault.failures import (
    STALE_FOR,
    UNDONE,
    LoginRefusedError,
    NoAccountTokenError,
    SecretMissingError,
    TokenGoneError,
    UnsupportedSecretError,
    VaultDeniedError,
    VaultError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.leases import HeldLease, hold
from nemutator_agent.credentials.vault.orphaned_tokens import OrphanedTokens
from nemutator_agent.credentials.vault.revocations import Revocations
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.credentials.vault.single_flight import SingleFlight

log = logging.getLogger(__name__)

POLL_S = 2.0
"""How often it is checked which tokens are due to be renewed."""

RENEWALS_AT_ONCE = 4
RENEWAL_BACKOFF = Backoff(first_s=5.0, longest_s=60.0)

DENIAL_S = 5.0
"""Vault is not asked again for each request of a pod that it refuses: a login costs it a TokenReview,
and one pod that asks for what it may not have would make all others wait for a thread."""


@dataclass(frozen=True, slots=True)
class Reading:
    document: Document
    cached: bool = False
    stale: bool = False
    """It was read before an outage that lasts: Vault could not be asked whether it still holds."""


@dataclass(eq=False, slots=True)
class Broker:
    vault: Vault
    audit: Audit
    revocations: Revocations
    orphans: OrphanedTokens
    ledger: Ledger
    process: Process
    _: KW_ONLY
    fresh_s: float
    stale_s: float
    _sessions: dict[tuple[str, str], VaultSession] = field(default_factory=dict, init=False)
    _reads: SingleFlight[Document] = field(
        default_factory=lambda: SingleFlight("read from Vault"), init=False
    )
    _logins: SingleFlight[HeldLease] = field(
        default_factory=lambda: SingleFlight("log in to Vault"), init=False
    )

    # --- pods come and go -----------------------------------------------------------------------
    def open(self, account: Account) -> VaultSession:
        """The session of *account*: the same one for as long as it is open."""
        session = self._sessions.get(account.key)
        if session is None:
            session = self._sessions[account.key] = VaultSession(account)
            session.held = self.orphans.claim(account)
            self._count_tokens()
        return session

    def refresh(self, session: VaultSession, jwt: Secret | None) -> None:
        """Kubelet has brought the pod's token again, perhaps a newer one."""
        if jwt is None or session.jwt == jwt:
            return
        session.jwt = jwt
        session.login_denial = None

    def close(self, session: VaultSession) -> None:
        """Its pod is gone: forget what it had, and let its token be revoked."""
        session.closed = True
        session.jwt = None
        session.cache.clear()
        self._sessions.pop(session.account.key, None)
        self._drop_token(session)
        self._count_tokens()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._logins.run(), name="logins")
            tasks.create_task(self._reads.run(), name="reads")
            tasks.create_task(self._renew(), name="renew tokens")

    # --- reading --------------------------------------------------------------------------------
    async def read(self, session: VaultSession, path: str) -> Reading:
        """What lies at *path*, as the account of *session* may see it; raises a VaultError."""
        cached = session.cache.get(path)
        now = self.process.clock.monotonic()
        if cached is not None and now - cached.authorised < self.fresh_s:
            return self._counted(Reading(cached.document, cached=True), "cached")
        try:
            denial = session.denials.get(path)
            if denial is not None and now < denial.until:
                raise denial.again()
            document = await self._reads.join(
                (session.account.key, path), lambda: self._fetch(session, path)
            )
        except VaultError as error:
            # Looked up again: a denial of the same moment has removed it.
            cached = session.cache.get(path)
            if cached is not None and self._may_be_stale(cached, error):
                return self._counted(Reading(cached.document, cached=True, stale=True), "stale")
            self.process.meter.count(names.CREDENTIAL_READS, result=error.kind)
            raise
        return self._counted(Reading(document), "fetched")

    def _may_be_stale(self, cached: CachedDocument, error: VaultError) -> bool:
        return (
            isinstance(error, VaultUnavailableError)
            and error.reason in STALE_FOR
            and self.process.clock.monotonic() - cached.authorised < self.stale_s
        )

    def _counted(self, reading: Reading, result: str) -> Reading:
        self.process.meter.count(names.CREDENTIAL_READS, result=result)
        return reading

    async def _fetch(self, session: VaultSession, path: str) -> Document:
        token = await self._token(session)
        try:
            return await self._fetch_with(token, session, path)
        except TokenGoneError:
            # Revoked behind our back, or Vault was restored from a backup. Once is enough.
            self._forget_token(session, token)
        again = await self._token(session)
        try:
            return await self._fetch_with(again, session, path)
        except TokenGoneError:
            self._forget_token(session, again)
            session.forget(path)
            raise

    async def _fetch_with(self, token: Secret, session: VaultSession, path: str) -> Document:
        # From before the call: what is allowed is known to be so then, and not later.
        asked = self.process.clock.monotonic()
        try:
            mount = session.mounts.get(path)
            if mount is None:
                mount = await self.vault.mount_of(token, path)
            document = await self.vault.read(token, mount, path)
        except (VaultDeniedError, SecretMissingError, UnsupportedSecretError) as error:
            session.forget(path)
            session.denials[path] = CachedDenial(error, self.process.clock.monotonic() + DENIAL_S)
            raise
        if not session.closed:
            session.mounts[path] = mount
            session.cache.put(path, CachedDocument(document, asked))
        return document

    # --- tokens ---------------------------------------------------------------------------------
    async def _token(self, session: VaultSession) -> Secret:
        held = session.held
        if held is None or not held.alive(self.process.clock.monotonic()):
            held = await self._logins.join(session.account.key, lambda: self._login(session))
        return held.lease.token

    async def _login(self, session: VaultSession) -> HeldLease:
        account, jwt = session.account, session.jwt
        if jwt is None:
            raise NoAccountTokenError("kubelet has given no token of this pod for Vault")
        denial = session.login_denial
        if denial is not None and self.process.clock.monotonic() < denial.until:
            raise denial.again()
        entry = self.ledger.intend(account)
        try:
            lease = await self.vault.login(account.role, jwt)
        except VaultError as error:
            if _gave_nothing(error):
                self.ledger.end(entry)
            denied = isinstance(error, LoginRefusedError)
            if isinstance(error, LoginRefusedError):
                until = self.process.clock.monotonic() + DENIAL_S
                session.login_denial = CachedDenial(error, until)
                session.cache.clear()
            self.audit.record(
                subject_of(account.pod),
                "login",
                "denied" if denied else "failed",
                role=account.role,
                reason=error.kind,
            )
            raise
        held = hold(
            lease, self.process.clock.monotonic(), entry=entry, roll=self.process.dice.random()
        )
        self.ledger.save(account, held)
        self.audit.record(
            subject_of(account.pod), "login", "granted", role=account.role, lasts_s=lease.ttl_s
        )
        if session.closed:
            self.revocations.add(account, held)
            raise NoAccountTokenError("the pod has ended")
        self._drop_token(session)
        session.held = held
        session.login_denial = None
        session.renewals_failed = 0
        self._count_tokens()
        return held

    def _drop_token(self, session: VaultSession) -> None:
        if session.held is not None:
            self.revocations.add(session.account, session.held)
            session.held = None

    def _forget_token(self, session: VaultSession, token: Secret) -> None:
        """Vault does not know it any more, so there is nothing to revoke."""
        if session.held is not None and session.held.lease.token == token:
            self.ledger.end(session.held.entry)
            session.held = None

    async def _renew(self) -> None:
        while True:
            await self.process.clock.sleep(POLL_S)
            now = self.process.clock.monotonic()
            due = [session for session in self._sessions.values() if _is_due(session, now)]
            for first in range(0, len(due), RENEWALS_AT_ONCE):
                async with asyncio.TaskGroup() as tasks:
                    for session in due[first : first + RENEWALS_AT_ONCE]:
                        tasks.create_task(self._renewed(session), name="renew")

    async def _renewed(self, session: VaultSession) -> None:
        held = session.held
        if held is None or session.closed:
            return
        account = session.account
        try:
            lease = await self.vault.renew(held.lease.token)
        except VaultUnavailableError as error:
            session.renewals_failed += 1
            self.audit.record(
                subject_of(account.pod), "renew", "failed", role=account.role, reason=error.reason
            )
            wait_s = RENEWAL_BACKOFF.delay_s(
                session.renewals_failed, roll=self.process.dice.random()
            )
            if session.held is held:
                again = self.process.clock.monotonic() + wait_s
                session.held = replace(held, renew=again)
            return
        except VaultError as error:
            self.audit.record(
                subject_of(account.pod), "renew", "denied", role=account.role, reason=error.kind
            )
            if isinstance(error, TokenGoneError):
                self._forget_token(session, held.lease.token)
                await self._login_again(session)
            elif session.held is held:
                # Without a policy that lets it renew itself it is still good until its end.
                session.held = replace(held, renew=held.ends)
            return
        self.audit.record(
            subject_of(account.pod), "renew", "granted", role=account.role, lasts_s=lease.ttl_s
        )
        renewed = hold(
            lease, self.process.clock.monotonic(), entry=held.entry, roll=self.process.dice.random()
        )
        if session.held is not held:
            return
        self.ledger.renew(renewed)
        session.renewals_failed = 0
        session.held = renewed
        if lease.ttl_s < held.lease.ttl_s / 2:
            # Its longest life is near. The old one is revoked as soon as there is a new one.
            await self._login_again(session)

    async def _login_again(self, session: VaultSession) -> None:
        try:
            await self._logins.join(session.account.key, lambda: self._login(session))
        except VaultError as error:
            # Recorded already; whoever reads next tries once more.
            log.debug("login_failed", {names.ERROR: error.why})

    def _count_tokens(self) -> None:
        held: Iterable[VaultSession] = (s for s in self._sessions.values() if s.held is not None)
        self.process.meter.gauge(names.VAULT_TOKENS, sum(1 for _ in held))


def _gave_nothing(error: VaultError) -> bool:
    """A login that failed like this has left no token at Vault; another one may have."""
    refused = isinstance(error, LoginRefusedError)
    return refused or (isinstance(error, VaultUnavailableError) and error.reason in UNDONE)


def _is_due(session: VaultSession, now: float) -> bool:
    held = session.held
    return held is not None and held.renew <= now < held.ends
