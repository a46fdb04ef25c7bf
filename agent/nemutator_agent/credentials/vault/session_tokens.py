"""The Vault token of each session: asked for when it is needed, renewed in time, revoked at the end."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import inf

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_agent.credentials.audit import Audit, Operation, Result, subject_of
from nemutator_agent.credentials.ports import Ledger, SharedVault
from nemutator_agent.credentials.vault.accounts import AccountKey
from nemutator_agent.credentials.vault.cache import DENIAL_S, CachedDenial, postponed
from nemutator_agent.credentials.vault.failures import (
    UNDONE,
    LoginRefusedError,
    NoAccountTokenError,
    TokenGoneError,
    VaultDeniedError,
    VaultError,
    VaultNotAskedError,
    VaultUnavailableError,
)
from nemutator_agent.credentials.vault.leases import HeldLease, Lease, hold
from nemutator_agent.credentials.vault.login_proofs import LoginProof
from nemutator_agent.credentials.vault.revocations import Revocations
from nemutator_agent.credentials.vault.sessions import VaultSession
from nemutator_agent.credentials.vault.single_flight import SingleFlight

log = logging.getLogger(__name__)

POLL_S = 2.0
"""Seconds between two checks which tokens are due to be renewed."""

LOGINS_AT_ONCE = 8

PROVED_S = 60.0
"""For so long after a login or a lookup, a denial is not that of a token which is gone."""

RENEWALS_AT_ONCE = 4
RENEWAL_BACKOFF = Backoff(first_s=5.0, longest_s=60.0)


@dataclass(eq=False, slots=True)
class SessionTokens:
    vault: SharedVault
    audit: Audit
    revocations: Revocations
    ledger: Ledger
    process: Process
    sessions: Mapping[AccountKey, VaultSession]
    """Those that are open, which others open and close."""
    drain_s: float
    """For so long a process that ends waits for the logins that it has begun: the token of one whose
    answer nobody takes would live until its own end."""
    _last_login: float = field(default=-inf, init=False)
    """That Vault granted to anybody here."""
    _logins: SingleFlight[HeldLease] = field(init=False)
    _lookups: SingleFlight[bool] = field(init=False)

    def __post_init__(self) -> None:
        self._logins = SingleFlight(
            "log in to Vault", self.process.clock, at_once=LOGINS_AT_ONCE, drain_s=self.drain_s
        )
        self._lookups = SingleFlight("look a token up", self.process.clock)

    async def of(self, session: VaultSession) -> Secret:
        """A token that is good for a while; raises a VaultError."""
        held = session.held
        if held is None or not held.alive(self.process.clock.monotonic()):
            held = await self._logins.join(session.account.key, lambda: self._login(session))
        return held.lease.token

    def drop(self, session: VaultSession, *, superseded: bool = False) -> None:
        """Have the token revoked, if it is ours."""
        if session.held is not None:
            if session.held.lease.ours:
                self.revocations.add(session.account, session.held, superseded=superseded)
            session.held = None

    def forget(self, session: VaultSession, token: Secret) -> None:
        """Vault does not know *token* any more, so there is nothing to revoke."""
        if session.held is not None and session.held.lease.token == token:
            self.ledger.end(session.held.entry)
            session.held = None

    def count(self) -> None:
        held = sum(session.held is not None for session in self.sessions.values())
        self.process.meter.gauge(names.VAULT_TOKENS, held)

    async def run(self) -> None:
        """Log in and renew until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._logins.run(), name="logins")
            tasks.create_task(self._lookups.run(), name="lookups")
            tasks.create_task(self._renew(), name="renew tokens")

    async def _login(self, session: VaultSession) -> HeldLease:
        account, proof = session.account, await _proof(session)
        denial = session.login_denial
        if denial is not None and self.process.clock.monotonic() < denial.until:
            raise denial.error.again()
        entry = self.ledger.intend(account)
        try:
            lease = await self.vault.of(account).login(account.role, proof)
        except VaultError as failure:
            error = self._settled(session, failure)
            if _gave_nothing(error):
                self.ledger.end(entry)
            result: Result = "failed"
            if isinstance(error, LoginRefusedError):
                result = "denied"
                until = self.process.clock.monotonic() + DENIAL_S
                session.login_denial = CachedDenial(error, until)
                session.cache.clear()
            elif isinstance(error, VaultNotAskedError):
                # There was no login, so there is nothing to record.
                raise
            elif isinstance(error, VaultUnavailableError):
                now, roll = self.process.clock.monotonic(), self.process.dice.random()
                session.login_denial = postponed(error, denial, now, roll=roll)
            self._record(session, "login", result, reason=error.kind)
            raise error from None
        held = self._held(lease, entry)
        if lease.ours:
            self.ledger.save(account, held)
        else:
            # Nobody has to revoke it, so a next run need not know it.
            self.ledger.end(entry)
        self._record(session, "login", "granted", lasts_s=lease.ttl_s)
        if session.closed:
            if lease.ours:
                self.revocations.add(account, held)
            raise NoAccountTokenError("the pod has ended")
        self.revocations.supersede(account)
        before = session.held
        if before is not None and before.lease.token == lease.token:
            # The same token was given again: what was lent for it goes on.
            held = replace(held, entry=before.entry)
        else:
            self.drop(session, superseded=True)
        session.held = held
        self._proves(session, held.lease.token)
        self._last_login = self.process.clock.monotonic()
        session.refused_at = None
        session.login_denial = None
        session.renewals_failed = 0
        self.count()
        return held

    def _settled(self, session: VaultSession, error: VaultError) -> VaultError:
        """A refusal without a reason counts once another login has shown that Vault can ask about
        accounts: until then it is as likely the API server that is away."""
        if not isinstance(error, LoginRefusedError) or not error.without_reason:
            return error
        if session.refused_at is None:
            session.refused_at = self.process.clock.monotonic()
        if self._last_login > session.refused_at:
            return error
        return VaultUnavailableError("unsettled", error.why)

    async def is_gone(self, session: VaultSession, token: Secret) -> bool:
        """Whether a denial that *token* got is the end of *token*; raises a VaultUnavailableError.

        OpenBao gives the same words for both.
        """
        proved, until = session.proved
        if proved == token and self.process.clock.monotonic() < until:
            return False
        return await self._lookups.join(
            session.account.key, lambda: self._looked_up(session, token)
        )

    async def _looked_up(self, session: VaultSession, token: Secret) -> bool:
        vault = self.vault.of(session.account)
        for ask in (vault.lookup, vault.renew):
            try:
                await ask(token)
            except TokenGoneError:
                return True
            except VaultDeniedError:
                # It may have a policy for the other one.
                continue
            self._proves(session, token)
            return False
        # It is gone, or has no policy for either: a new one, which is proved, will show it.
        if session.held is not None and session.held.lease.token == token:
            self.drop(session, superseded=True)
        return True

    def _proves(self, session: VaultSession, token: Secret) -> None:
        session.proved = token, self.process.clock.monotonic() + PROVED_S

    async def _renew(self) -> None:
        while True:
            await self.process.clock.sleep(POLL_S)
            now = self.process.clock.monotonic()
            due = [session for session in self.sessions.values() if _is_due(session, now)]
            for first in range(0, len(due), RENEWALS_AT_ONCE):
                async with asyncio.TaskGroup() as tasks:
                    for session in due[first : first + RENEWALS_AT_ONCE]:
                        tasks.create_task(self._renewed(session), name="renew")

    async def _renewed(self, session: VaultSession) -> None:
        held = session.held
        if held is None or session.closed:
            return
        try:
            lease = await self.vault.of(session.account).renew(held.lease.token)
        except VaultNotAskedError:
            # It is still due, so the next look tries again.
            return
        except VaultUnavailableError as error:
            session.renewals_failed += 1
            self._record(session, "renew", "failed", reason=error.reason)
            failed, roll = session.renewals_failed, self.process.dice.random()
            if session.held is held:
                again = self.process.clock.monotonic() + RENEWAL_BACKOFF.delay_s(failed, roll=roll)
                session.held = replace(held, renew=again)
            return
        except VaultError as error:
            self._record(session, "renew", "denied", reason=error.kind)
            if isinstance(error, TokenGoneError):
                self.forget(session, held.lease.token)
                await self._login_again(session)
            elif session.held is held:
                # No policy lets it renew itself, and it is still good until its end.
                session.held = replace(held, renew=held.ends)
            return
        self._record(session, "renew", "granted", lasts_s=lease.ttl_s)
        renewed = self._held(replace(lease, ours=held.lease.ours), held.entry)
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
            # It is recorded already, and the next reading tries again.
            log.debug("login_failed", {names.ERROR: error.why})

    def _held(self, lease: Lease, entry: int) -> HeldLease:
        now, roll = self.process.clock.monotonic(), self.process.dice.random()
        return hold(lease, now, entry=entry, roll=roll)

    def _record(
        self,
        session: VaultSession,
        operation: Operation,
        result: Result,
        *,
        reason: str = "",
        lasts_s: float | None = None,
    ) -> None:
        account = session.account
        self.audit.record(
            subject_of(account.pod),
            operation,
            result,
            role=account.role,
            reason=reason,
            lasts_s=lasts_s,
        )


async def _proof(session: VaultSession) -> LoginProof:
    if session.proof is not None:
        return await session.proof()
    if session.jwt is None:
        raise NoAccountTokenError("kubelet has given no token of this pod for Vault")
    return session.jwt


def _gave_nothing(error: VaultError) -> bool:
    """Whether a login that failed like this has certainly left no token at Vault."""
    refused = isinstance(error, LoginRefusedError | VaultNotAskedError)
    return refused or (isinstance(error, VaultUnavailableError) and error.reason in UNDONE)


def _is_due(session: VaultSession, now: float) -> bool:
    held = session.held
    return held is not None and held.renew <= now < held.ends
