"""Revokes the tokens of pods that have ended, and tries again for as long as the tokens are good."""

import asyncio
import logging
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from math import ceil

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
ALL_WITHIN_S = 20.0
"""A drained node ends a hundred pods together, and each token has to be revoked within 30 s."""

LEAST_AT_ONCE = 2
MOST_AT_ONCE = 16
"""As many as there are threads for revocations; those of readings are others."""

LEARNED = 0.5
"""The share of the newest call in what one is expected to take."""

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
    under_way: bool = False


def at_once(waiting: int, each_s: float) -> int:
    """How many calls of *each_s* to make at a time, so that all end in time."""
    return min(max(ceil(waiting * each_s / ALL_WITHIN_S), LEAST_AT_ONCE), MOST_AT_ONCE)


@dataclass(eq=False, slots=True)
class Revocations:
    vault: SharedVault
    audit: Audit
    ledger: Ledger
    process: Process
    _waiting: deque[_Ending] = field(default_factory=deque, init=False)
    _news: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _each_s: float = field(default=1.0, init=False)
    _room: int = field(default=LEAST_AT_ONCE, init=False)
    _ticks: bool = field(default=False, init=False)

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
        async with asyncio.TaskGroup() as tasks:
            while True:
                self._news.clear()
                for ending in self._next():
                    ending.under_way = True
                    tasks.create_task(self._timed(ending), name="revoke")
                self._count()
                if not self._ticks and not all(ending.under_way for ending in self._waiting):
                    self._ticks = True
                    tasks.create_task(self._tick(), name="look again")
                await self._news.wait()

    def _next(self) -> list[_Ending]:
        now = self.process.clock.monotonic()
        busy = sum(ending.under_way for ending in self._waiting)
        # Not fewer as they become fewer: those that are left have waited already.
        self._room = max(self._room, at_once(len(self._waiting), self._each_s))
        if not self._waiting:
            self._room = LEAST_AT_ONCE
        due = (one for one in self._waiting if one.due <= now and not one.under_way)
        return list(islice(due, max(self._room - busy, 0)))

    async def _tick(self) -> None:
        await self.process.clock.sleep(POLL_S)
        self._ticks = False
        self._news.set()

    async def _timed(self, ending: _Ending) -> None:
        begun = self.process.clock.monotonic()
        try:
            await self._revoke(ending)
        finally:
            ending.under_way = False
            took_s = self.process.clock.monotonic() - begun
            self._each_s += LEARNED * (took_s - self._each_s)
            self._news.set()

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
