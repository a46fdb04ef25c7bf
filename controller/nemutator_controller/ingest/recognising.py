"""Recognises callers by TokenReview: the API server says whose a token is, and for how long.

Each verdict, good or bad, is kept for a minute. While the API server is away good ones live on, up
to a bound; whoever is not known by then is told to come again, and is never believed.
"""

import asyncio
import logging
from typing import Protocol

from nemutator_common import names
from nemutator_common.clocks import Clock
from nemutator_common.meters import Meter
from nemutator_common.names import BRAIN_AUDIENCE
from nemutator_common.secret import Secret

from nemutator_controller.ingest.bearers import (
    Accounts,
    Reviewed,
    bearer,
    caller_of,
    may_be_projected,
)
from nemutator_controller.ingest.callers import Caller, CallersUnknownError
from nemutator_controller.ingest.verdicts import Verdicts, digest
from nemutator_controller.kube.failures import KubeError
from nemutator_controller.kube.reviewing import TokenVerdict

log = logging.getLogger(__name__)

FRESH_S = 60.0
KEPT_S = 600.0
"""While the API server is away; kubelet's tokens are renewed more often, so most end sooner."""

ASK_S = 5.0
_AUDIENCE = str(BRAIN_AUDIENCE)
"""JSON's encoder takes plain text only, and a declared name is more than that."""

AT_ONCE = 16
"""Reviews under way: strangers with made-up tokens may not occupy the API server."""


class TokenReviews(Protocol):
    """`kube.reviewing.Reviewer` is one."""

    async def token(self, token: Secret, audiences: tuple[str, ...] = ()) -> TokenVerdict: ...


class ReviewedCallers:
    """A `Callers`."""

    def __init__(
        self, reviews: TokenReviews, accounts: Accounts, *, clock: Clock, meter: Meter
    ) -> None:
        self._reviews = reviews
        self._accounts = accounts
        self._clock = clock
        self._meter = meter
        self._verdicts: Verdicts[Caller | None] = Verdicts()
        self._asking = asyncio.Semaphore(AT_ONCE)

    async def recognise(self, authorization: str | None) -> Caller | None:
        token = bearer(authorization)
        if token is None or not may_be_projected(token):
            self._count("refused")
            return None
        key, now = digest(token.reveal()), self._clock.monotonic()
        kept = self._verdicts.find(key)
        if kept is not None and kept.is_younger(FRESH_S, now=now):
            self._count("granted" if kept.verdict else "refused")
            return kept.verdict
        try:
            caller = await self._ask(token)
        except (KubeError, TimeoutError) as error:
            log.warning("token_not_reviewed", {names.ERROR: error})
            if kept is not None and kept.verdict and kept.is_younger(KEPT_S, now=now):
                self._count("kept")
                return kept.verdict
            self._count("unknown")
            raise CallersUnknownError("the API server does not answer") from error
        self._verdicts.keep(key, caller, now=now)
        self._count("granted" if caller else "refused")
        return caller

    async def _ask(self, token: Secret) -> Caller | None:
        async with asyncio.timeout(ASK_S), self._asking:
            verdict = await self._reviews.token(token, (_AUDIENCE,))
        reviewed = Reviewed(
            authenticated=verdict.authenticated,
            username=verdict.user.username,
            audiences=verdict.audiences,
            claims=verdict.user.extra,
        )
        return caller_of(reviewed, self._accounts)

    def _count(self, result: str) -> None:
        self._meter.count(names.CALLERS, result=result)
