"""What the API server says of tokens and permissions: one cache, and one rule for its outages.

Each verdict, good or bad, is asked for again when it is no longer fresh. While the API server is
away, a good one is valid up to a bound, which each user of the cache chooses; a caller without one
is asked to come again, and is never believed.

Anybody can make up tokens, as fast as they like. What was good before is asked for apart from what is
new, good verdicts make no room for bad ones, and sources take turns: see `queueing.py`.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from nemutator_common import names
from nemutator_common.names import BRAIN_AUDIENCE
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_controller.access.bearers import Accounts, bearer, caller_of, may_be_ours
from nemutator_controller.access.callers import Caller
from nemutator_controller.access.digests import digest
from nemutator_controller.access.ports import TokenReviewer
from nemutator_controller.access.queueing import FairQueue, QueueFullError
from nemutator_controller.kube.failures import KubeError

log = logging.getLogger(__name__)

V = TypeVar("V")

ASK_S = 5.0

CALLER_FRESH_S = 60.0
CALLER_OUTAGE_S = 600.0
"""Kubelet's tokens are renewed more often, so that most verdicts end sooner."""

MOST_CALLERS = 20_000
"""5 000 nodes with three processes each have 15 000 tokens."""

CALLERS_AT_ONCE = 8
"""Reviews under way, of new tokens and again of those that were good: strangers with made-up tokens may
not occupy the API server."""

MOST_BAD = 1_000
"""Bad verdicts that are kept: whoever repeats a bad token is answered from memory."""

_AUDIENCE = str(BRAIN_AUDIENCE)
"""JSON's encoder takes plain text only, and a declared name is more than that."""


class UnknownNowError(Exception):
    """The API server does not answer: a caller is neither let in nor refused for good."""


@dataclass(frozen=True, slots=True)
class ReviewVerdict(Generic[V]):
    value: V
    at: float
    """By the monotonic clock."""
    outdated: bool = False
    """It is no longer fresh, and valid only because the API server is away."""


@dataclass(kw_only=True)
class ReviewVerdicts(Generic[V]):
    """The last verdict on each question; the one that was not used for longest makes room, good for
    good and bad for bad ones."""

    fresh_s: float
    outage_s: float
    """How old a good verdict may be while the API server is away; 0: only fresh ones are valid."""
    most: int
    at_once: int
    """Calls under way about what was good before, and as many about everything else."""
    process: Process
    _good: OrderedDict[Hashable, ReviewVerdict[V]] = field(default_factory=OrderedDict, init=False)
    _bad: OrderedDict[Hashable, ReviewVerdict[V]] = field(default_factory=OrderedDict, init=False)
    _again: FairQueue = field(init=False)
    _new: FairQueue = field(init=False)

    def __post_init__(self) -> None:
        self._again = FairQueue(self.at_once)
        self._new = FairQueue(self.at_once)

    async def find(
        self, key: Hashable, ask: Callable[[], Awaitable[V]], *, source: str
    ) -> ReviewVerdict[V]:
        """The verdict on *key*, which *ask* gets from the API server; a falsy one is a bad one.

        *source* is where the question comes from: questions of one source wait for each other.
        """
        now = self.process.clock.monotonic()
        known = self._known(key)
        if known is not None and now - known.at < self.fresh_s:
            return known
        queue = self._new if known is None or not known.value else self._again
        try:
            async with asyncio.timeout(ASK_S), queue.turn(source):
                value = await ask()
        except QueueFullError:
            raise UnknownNowError("too many unknown callers come from the same address") from None
        except (KubeError, TimeoutError) as error:
            log.warning("review_failed", {names.ERROR: error})
            if known is not None and known.value and now - known.at < self.outage_s:
                return ReviewVerdict(known.value, known.at, outdated=True)
            raise UnknownNowError("the API server does not answer") from error
        return self._keep(key, ReviewVerdict(value, now))

    def _known(self, key: Hashable) -> ReviewVerdict[V] | None:
        for verdicts in (self._good, self._bad):
            if (known := verdicts.get(key)) is not None:
                verdicts.move_to_end(key)
                return known
        return None

    def _keep(self, key: Hashable, verdict: ReviewVerdict[V]) -> ReviewVerdict[V]:
        self._good.pop(key, None)
        self._bad.pop(key, None)
        verdicts, most = (self._good, self.most) if verdict.value else (self._bad, MOST_BAD)
        verdicts[key] = verdict
        while len(verdicts) > most:
            verdicts.popitem(last=False)
        return verdict


class ReviewedCallers:
    """A `Callers`: a TokenReview says which process a token belongs to."""

    def __init__(self, reviewer: TokenReviewer, accounts: Accounts, process: Process) -> None:
        self._reviewer = reviewer
        self._accounts = accounts
        self._meter = process.meter
        self._verdicts: ReviewVerdicts[Caller | None] = ReviewVerdicts(
            fresh_s=CALLER_FRESH_S,
            outage_s=CALLER_OUTAGE_S,
            most=MOST_CALLERS,
            at_once=CALLERS_AT_ONCE,
            process=process,
        )

    async def recognise(self, authorization: str | None, *, source: str) -> Caller | None:
        token = bearer(authorization)
        if token is None or not may_be_ours(token, self._accounts):
            self._count("refused")
            return None
        try:
            verdict = await self.review(token, source=source)
        except UnknownNowError:
            self._count("unknown")
            raise
        if verdict.outdated:
            self._count("kept")
        else:
            self._count("granted" if verdict.value else "refused")
        return verdict.value

    async def review(self, token: Secret, *, source: str) -> ReviewVerdict[Caller | None]:
        """The verdict on *token*, which is not counted. Raises UnknownNowError."""
        return await self._verdicts.find(
            digest(token.reveal()), lambda: self._ask(token), source=source
        )

    async def _ask(self, token: Secret) -> Caller | None:
        return caller_of(await self._reviewer.token(token, (_AUDIENCE,)), self._accounts)

    def _count(self, result: str) -> None:
        self._meter.count(names.CALLERS, result=result)
