"""Revokes the tokens of pods that have ended, and tries again for as long as the tokens are good."""

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.backoff import Backoff
from nemutator_common.process import Process
from nemutator_common.wire import SUPERSEDED

from nemutator_agent.credentials.audit import Audit, subject_of
from nemutator_agent.credentials.ports import Ledger, SharedVault
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.failures import (
    TokenGoneError,
    VaultDeniedError,
    VaultError,
    VaultNotAskedError,
)
from nemutator_agent.credentials.vault.leases import HeldLease

log = logging.getLogger(__name__)

MOST = 1024
AT_ONCE = 4
"""Calls at a time: a drained node ends a hundred pods together, and others still have to read."""
POLL_S = 1.0
BACKOFF = Backoff(first_s=1.0, longest_s=10.0)
"""Three tries within the 30 s after which a token has to be revoked."""


@dataclass(slots=True, eq=False)
class _Ending:
    account: Account
    held: HeldLease
    due: float
    superseded: bool
    """Its account has another token, which goes on."""
    tries: int = 0


@dataclass(eq=False, slots=True)
class Revocations:
    vault: SharedVault
    audit: Audit
    ledger: Ledger
    process: Process
    _waiting: deque[_Ending] = field(default_factory=deque, init=False)
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def add(self, account: Account, held: HeldLease, *, superseded: bool = False) -> None:
        """Revoke it soon. When too many wait, the one that has waited longest is left to its own end, or
        to the next run of this process, because the ledger still has it."""
        if len(self._waiting) >= MOST:
            self._give_up(self._waiting.popleft(), "queue_full")
        self._waiting.append(_Ending(account, held, self.process.clock.monotonic(), superseded))
        self._count()
        self._news.set()

    def supersede(self, account: Account) -> None:
        """*account* has a new token: the end of one that still waits is not the end of its access."""
        for ending in self._waiting:
            if ending.account.key == account.key:
                ending.superseded = True

    async def run(self) -> None:
        while True:
            now = self.process.clock.monotonic()
            due = [ending for ending in self._waiting if ending.due <= now]
            for first in range(0, len(due), AT_ONCE):
                async with asyncio.TaskGroup() as tasks:
                    for ending in due[first : first + AT_ONCE]:
                        tasks.create_task(self._revoke(ending), name="revoke")
            self._count()
            if not self._waiting:
                self._news.clear()
                await self._news.wait()
            elif not any(ending.due <= self.process.clock.monotonic() for ending in self._waiting):
                await self.process.clock.sleep(POLL_S)

    async def _revoke(self, ending: _Ending) -> None:
        role = ending.account.role
        of = subject_of(ending.account.pod)
        try:
            await self.vault.of(ending.account).revoke(ending.held.lease.token)
        except TokenGoneError:
            pass
        except VaultDeniedError as error:
            # A batch token, or one without a policy that lets it revoke itself: no try will succeed.
            self._remove(ending)
            self.ledger.end(ending.held.entry)
            self.audit.record(of, "revoke", "denied", role=role, reason=error.kind)
            self._give_up(ending, "refused")
            return
        except VaultError as error:
            now = self.process.clock.monotonic()
            if isinstance(error, VaultNotAskedError):
                ending.due = now + POLL_S
            else:
                ending.tries += 1
                ending.due = now + BACKOFF.delay_s(ending.tries, roll=self.process.dice.random())
                self.audit.record(of, "revoke", "failed", role=role, reason=error.kind)
            if now >= ending.held.ends:
                self._remove(ending)
                self.ledger.end(ending.held.entry)
                self._give_up(ending, "expired")
            return
        self._remove(ending)
        # Only now that it is revoked: after a kill in between, the next run revokes it once more.
        self.ledger.end(ending.held.entry)
        reason = SUPERSEDED if ending.superseded else ""
        self.audit.record(of, "revoke", "granted", role=role, reason=reason)

    def _remove(self, ending: _Ending) -> None:
        # It may have been dropped meanwhile, to make room for another one.
        if ending in self._waiting:
            self._waiting.remove(ending)

    def _give_up(self, ending: _Ending, reason: str) -> None:
        self.process.meter.count(names.REVOCATIONS_DROPPED, reason=reason)
        pod = ending.account.pod
        log.warning(
            "revocation_dropped",
            {names.POD: f"{pod.namespace}/{pod.name}", names.REASON: reason},
        )

    def _count(self) -> None:
        self.process.meter.gauge(names.REVOCATIONS_WAITING, len(self._waiting))
