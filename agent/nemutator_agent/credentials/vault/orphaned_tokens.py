"""What an earlier run of this process has left: tokens go to their pods with their leases, or are
revoked, which ends those."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.wire import SUPERSEDED

from nemutator_agent.credentials.leases.leased_documents import RecoveredLease
from nemutator_agent.credentials.vault.accounts import Account
from nemutator_agent.credentials.vault.leases import HeldLease
from nemutator_agent.credentials.vault.ledger_records import (
    LedgerLease,
    LedgerToken,
    LoginIntent,
    held_of,
    recovered,
)
from nemutator_agent.credentials.vault.revocations import Revocations

log = logging.getLogger(__name__)


POLL_S = 5.0
"""Seconds between two checks which pods have ended: 30 s after that their tokens must be revoked."""


@dataclass(eq=False, slots=True)
class OrphanedTokens:
    """A pod that is published again gets its token back. The token of a pod that has certainly ended is
    revoked at once, and after *wait_s* those of all others are.

    Mount publishes everything again as soon as it notices a new credentials process: a pod that is not
    published by then has ended, or mount has lost its record of it.
    """

    left: Sequence[LedgerToken]
    unfinished: Sequence[LoginIntent]
    revocations: Revocations
    ended_pods: Callable[[Mapping[str, str]], Awaitable[Collection[str]]]
    """Of the pods with these uids and the directories of their volumes, those that have certainly ended.
    It never raises: what cannot be seen proves nothing."""
    process: Process
    _: KW_ONLY
    wait_s: float
    leases: Sequence[LedgerLease] = ()
    """Of those tokens."""
    _waiting: dict[Account, LedgerToken] = field(default_factory=dict, init=False)
    _superseded: list[LedgerToken] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        for token in sorted(self.left, key=lambda token: token.entry):
            older = self._waiting.pop(token.account, None)
            if older is not None:
                # It was replaced, and was not revoked yet.
                self._superseded.append(older)
            self._waiting[token.account] = token

    def claim(self, account: Account) -> tuple[HeldLease | None, Sequence[RecoveredLease]]:
        """The token of *account*, and what was lent for it."""
        token = self._waiting.pop(account, None)
        if token is None:
            return None, ()
        self.process.meter.count(names.RECOVERED_TOKENS, result="adopted")
        leases = [
            recovered(
                lease,
                now=self.process.clock.now(),
                monotonic=self.process.clock.monotonic(),
                roll=self.process.dice.random(),
            )
            for lease in self.leases
            if lease.token == token.entry
        ]
        self.process.meter.count(names.RECOVERED_LEASES, len(leases))
        return self._held(token), leases

    async def run(self) -> None:
        """Run until cancelled, although there is nothing left to do after *wait_s*."""
        self._log_recovered()
        self._revoke(self._superseded, SUPERSEDED)
        until = self.process.clock.monotonic() + self.wait_s
        while (left_s := until - self.process.clock.monotonic()) > 0:
            await self._revoke_ended()
            await self.process.clock.sleep(min(POLL_S, left_s))
        self._revoke(self._taken(list(self._waiting)), "orphaned")
        await asyncio.get_running_loop().create_future()

    async def _revoke_ended(self) -> None:
        if not self._waiting:
            return
        gone = await self.ended_pods({each.pod.uid: each.home for each in self._waiting})
        self._revoke(self._taken([each for each in self._waiting if each.pod.uid in gone]), "ended")

    def _taken(self, accounts: Iterable[Account]) -> list[LedgerToken]:
        return [self._waiting.pop(account) for account in accounts]

    def _log_recovered(self) -> None:
        if self._waiting:
            log.info("tokens_recovered", {names.COUNT: len(self._waiting)})
        for intent in self.unfinished:
            pod = intent.account.pod
            self.process.meter.count(names.RECOVERED_TOKENS, result="unknown")
            log.warning(
                "login_unfinished",
                {names.POD: f"{pod.namespace}/{pod.name}", names.POD_UID: pod.uid},
            )

    def _revoke(self, tokens: Iterable[LedgerToken], result: str) -> None:
        for token in tokens:
            pod = token.account.pod
            self.process.meter.count(names.RECOVERED_TOKENS, result=result)
            log.info(
                "token_left_over",
                {
                    names.POD: f"{pod.namespace}/{pod.name}",
                    names.POD_UID: pod.uid,
                    names.REASON: result,
                },
            )
            superseded = result == SUPERSEDED
            self.revocations.add(token.account, self._held(token), superseded=superseded)

    def _held(self, token: LedgerToken) -> HeldLease:
        return held_of(
            token,
            now=self.process.clock.now(),
            monotonic=self.process.clock.monotonic(),
            roll=self.process.dice.random(),
        )
