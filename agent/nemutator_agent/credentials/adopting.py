"""Tokens that an earlier life of this process has left: for their pods, or to be revoked."""

import asyncio
import logging
from collections.abc import Callable, Iterable

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter

from nemutator_agent.credentials.accounts import Account
from nemutator_agent.credentials.leases import Held
from nemutator_agent.credentials.ledger_records import Intent, Token, held_of
from nemutator_agent.credentials.revoking import Revocations

log = logging.getLogger(__name__)


class Orphans:
    """A pod that is published again gets its token back; after *wait_s* the others are revoked.

    Mount publishes all that there is as soon as it notices a new credentials process: who is not
    there by then has ended meanwhile.
    """

    def __init__(
        self,
        left: Iterable[Token],
        unfinished: Iterable[Intent],
        revocations: Revocations,
        *,
        wait_s: float,
        clock: Clock,
        meter: Meter,
        roll: Callable[[], float],
    ) -> None:
        self._revocations = revocations
        self._unfinished = tuple(unfinished)
        self._wait_s = wait_s
        self._clock = clock
        self._meter = meter
        self._roll = roll
        self._waiting: dict[Account, Token] = {}
        self._superseded: list[Token] = []
        for token in sorted(left, key=lambda token: token.entry):
            older = self._waiting.pop(token.account, None)
            if older is not None:
                # It was replaced, and its revocation had not come through.
                self._superseded.append(older)
            self._waiting[token.account] = token

    def claim(self, account: Account) -> Held | None:
        token = self._waiting.pop(account, None)
        if token is None:
            return None
        self._meter.count(names.RECOVERED_TOKENS, result="adopted")
        return self._held(token)

    async def run(self) -> None:
        """Until cancelled, though all is done after the waiting."""
        self._tell()
        self._revoke(self._superseded, "superseded")
        await self._clock.sleep(self._wait_s)
        orphans = list(self._waiting.values())
        self._waiting.clear()
        self._revoke(orphans, "orphaned")
        await asyncio.get_running_loop().create_future()

    def _tell(self) -> None:
        if self._waiting:
            log.info("tokens_recovered", {names.COUNT: len(self._waiting)})
        for intent in self._unfinished:
            pod = intent.account.pod
            self._meter.count(names.RECOVERED_TOKENS, result="unknown")
            log.warning(
                "login_unfinished",
                {names.POD: f"{pod.namespace}/{pod.name}", names.POD_UID: pod.uid},
            )

    def _revoke(self, tokens: Iterable[Token], result: str) -> None:
        for token in tokens:
            pod = token.account.pod
            self._meter.count(names.RECOVERED_TOKENS, result=result)
            log.info(
                "token_left_over",
                {
                    names.POD: f"{pod.namespace}/{pod.name}",
                    names.POD_UID: pod.uid,
                    names.REASON: result,
                },
            )
            self._revocations.add(token.account, self._held(token))

    def _held(self, token: Token) -> Held:
        return held_of(
            token,
            now=self._clock.now(),
            monotonic=self._clock.monotonic(),
            roll=self._roll(),
        )
