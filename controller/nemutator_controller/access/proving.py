"""Recognises agents by what the cluster has signed, and asks the API server for what a signature cannot
tell: whether the account is still there.

- What no key of the cluster has signed is refused here; the API server is not asked about it.
- A signed token is believed only while the brain sees its pod on the node that it names. All others are
  reviewed, as all were before there were keys: tokens of pods that end or are not seen yet, of
  admission, of another issuer, and those that are over by our clock.
- What is believed is reviewed, too: at first sight and again every ten minutes, so many a second. When
  ten thousand agents come at once, or the API server is away, signature and pod do until it is their turn.
"""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Literal

from nemutator_common import names
from nemutator_common.process import Process
from nemutator_common.secret import Secret

from nemutator_controller.access.bearers import Accounts, bearer, may_be_ours
from nemutator_controller.access.callers import Caller
from nemutator_controller.access.digests import digest
from nemutator_controller.access.key_reading import SigningKeys
from nemutator_controller.access.ports import RunningAgents
from nemutator_controller.access.signed_tokens import SKEW_S, ProvenAgent, agent_of, unproven
from nemutator_controller.access.token_reviews import (
    MOST_CALLERS,
    ReviewedCallers,
    UnknownNowError,
)

REVIEW_AGAIN_S = 600.0

REVIEWS_PER_S = 20.0
REVIEWS_AT_ONCE = 100.0
"""Reviews of what is proven already. Each costs the brain about a millisecond."""

PAUSE_S = 10.0
"""After a review that was not answered, so that an API server that hangs holds up one caller only."""

How = Literal["remembered", "signed", "reviewed", "forged"]


class ForgedTokenError(Exception):
    """No key of the cluster has signed it."""


@dataclass(slots=True)
class _Known:
    agent: ProvenAgent
    key_id: str
    reviewed_at: float | None = None
    revoked: bool = False
    """The API server does not take it any more: only the API server can say otherwise."""


@dataclass(kw_only=True, eq=False)
class ProvenCallers:
    """A `Callers`."""

    reviewed: ReviewedCallers
    keys: SigningKeys
    agents: RunningAgents
    accounts: Accounts
    process: Process
    _known: OrderedDict[bytes, _Known] = field(init=False, default_factory=OrderedDict)
    """By the digest of the token; only what a key has signed."""
    _left: float = field(init=False, default=REVIEWS_AT_ONCE)
    _filled_at: float = field(init=False, default=0.0)
    _silent_until: float = field(init=False, default=0.0)

    async def recognise(self, authorization: str | None, *, source: str) -> Caller | None:
        token = bearer(authorization)
        if token is None:
            self._count("refused")
            return None
        key = digest(token.reveal())
        if key not in self._known and not may_be_ours(token, self.accounts):
            self._count("refused")
            return None
        try:
            known = await self._remembered(key) or await self._prove(token, key)
        except ForgedTokenError:
            self._how("forged")
            self._count("refused")
            return None
        except UnknownNowError:
            self._count("unknown")
            raise
        if known is None or known.revoked or not self.agents.runs(known.agent.pod):
            self._how("reviewed")
            return await self.reviewed.recognise(authorization, source=source)
        caller = await self._stands(token, known, source)
        self._count("refused" if caller is None else "granted")
        return caller

    async def _remembered(self, key: bytes) -> _Known | None:
        known = self._known.get(key)
        if known is None:
            return None
        keys = await self.keys.for_key(known.key_id)
        if keys is not None and not keys.names(known.key_id):
            self._known.pop(key, None)
            raise ForgedTokenError
        if self.process.clock.now() >= known.agent.expires_at + SKEW_S:
            self._known.pop(key, None)
            return None
        if key in self._known:
            self._known.move_to_end(key)
        self._how("remembered")
        return known

    async def _prove(self, token: Secret, key: bytes) -> _Known | None:
        """None: a review has to say who it is."""
        sent = unproven(token.reveal())
        if sent is None:
            raise ForgedTokenError
        keys = await self.keys.for_key(sent.key_id)
        if keys is None or sent.key_id in keys.unreadable:
            return None
        signer = keys.keys.get(sent.key_id)
        if signer is None or not sent.is_signed_by(signer):
            raise ForgedTokenError
        now = self.process.clock.now()
        agent = agent_of(sent.payload, self.accounts, issuer=keys.issuer, now=now)
        if agent is None:
            return None
        self._how("signed")
        known = self._known[key] = _Known(agent, sent.key_id)
        while len(self._known) > MOST_CALLERS:
            self._known.popitem(last=False)
        return known

    async def _stands(self, token: Secret, known: _Known, source: str) -> Caller | None:
        """What the API server says of a proven agent, if it is time to ask and it answers."""
        if not self._is_due(known):
            return known.agent.caller
        try:
            verdict = await self.reviewed.review(token, source=source)
        except UnknownNowError:
            self._silent_until = self.process.clock.monotonic() + PAUSE_S
            return known.agent.caller
        if verdict.value is None:
            known.revoked = True
        elif not verdict.outdated:
            known.reviewed_at = self.process.clock.monotonic()
        return verdict.value

    def _is_due(self, known: _Known) -> bool:
        now = self.process.clock.monotonic()
        if now < self._silent_until:
            return False
        if known.reviewed_at is not None and now - known.reviewed_at < REVIEW_AGAIN_S:
            return False
        gained = (now - self._filled_at) * REVIEWS_PER_S
        self._left, self._filled_at = min(REVIEWS_AT_ONCE, self._left + gained), now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True

    def _count(self, result: str) -> None:
        self.process.meter.count(names.CALLERS, result=result)

    def _how(self, how: How) -> None:
        self.process.meter.count(names.TOKENS_JUDGED, how=how)
