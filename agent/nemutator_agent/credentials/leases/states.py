"""The states of one leased secret, and what leads from one to the next.

wanted ──▶ granted ◀──▶ renewing
              │            │
              ▼            ▼
           expiring ──▶ (replaced by another one, which begins as wanted)

from each of them: lost, when Vault does not know it any more, and revoked, when its pod ends
"""

from dataclasses import dataclass, replace
from enum import Enum

from nemutator_agent.credentials.vault.documents import GivenLease
from nemutator_agent.credentials.vault.leases import JITTER, MARGIN_S, RENEW_AT

RETRY_SHARE = 0.1
"""Of the time that is left, after which a renewal is tried again while Vault is away."""

SHORTEST_RETRY_S = 2.0

SHORTENED = 0.5
"""A renewal that gives less than this share of the first time has met the longest life of the
lease."""


class LeaseState(Enum):
    WANTED = "wanted"
    GRANTED = "granted"
    RENEWING = "renewing"
    EXPIRING = "expiring"
    """It is good until its end, and will not be renewed: another one is read before that."""
    REVOKED = "revoked"
    LOST = "lost"


ENDED = frozenset({LeaseState.REVOKED, LeaseState.LOST})


@dataclass(frozen=True, slots=True)
class LeaseHolding:
    """Times are by the monotonic clock."""

    state: LeaseState = LeaseState.WANTED
    given: GivenLease | None = None
    """As Vault gave it first."""
    ends: float = 0.0
    due: float = 0.0
    """When it has to be renewed or replaced."""

    def usable(self, now: float) -> bool:
        held = self.state in (LeaseState.GRANTED, LeaseState.RENEWING, LeaseState.EXPIRING)
        return held and now < self.ends - MARGIN_S

    def is_due(self, now: float) -> bool:
        acts = self.state in (LeaseState.GRANTED, LeaseState.EXPIRING, LeaseState.LOST)
        return acts and now >= self.due


def granted(holding: LeaseHolding, given: GivenLease, since: float, *, roll: float) -> LeaseHolding:
    """Vault has given it at *since*; *roll* is in [0, 1)."""
    if holding.state is not LeaseState.WANTED:
        return holding
    state = LeaseState.GRANTED if given.renewable else LeaseState.EXPIRING
    ends, due = _times(given.ttl_s, since, roll)
    return LeaseHolding(state, given, ends, due)


def renewing(holding: LeaseHolding) -> LeaseHolding:
    """Vault is asked to renew it."""
    if holding.state is not LeaseState.GRANTED:
        return holding
    return replace(holding, state=LeaseState.RENEWING)


def renewed(holding: LeaseHolding, again: GivenLease, since: float, *, roll: float) -> LeaseHolding:
    """Vault lets it last as long as *again* says, counted from *since*."""
    if holding.state is not LeaseState.RENEWING or holding.given is None:
        return holding
    ends, due = _times(again.ttl_s, since, roll)
    goes_on = again.renewable and again.ttl_s >= holding.given.ttl_s * SHORTENED
    state = LeaseState.GRANTED if goes_on else LeaseState.EXPIRING
    return LeaseHolding(state, holding.given, ends, due)


def unanswered(holding: LeaseHolding, now: float) -> LeaseHolding:
    """Vault is away: it is tried again, to renew the lease or to replace it."""
    if holding.state not in (LeaseState.RENEWING, LeaseState.EXPIRING, LeaseState.LOST):
        return holding
    wait_s = max(SHORTEST_RETRY_S, (holding.ends - now) * RETRY_SHARE)
    state = LeaseState.GRANTED if holding.state is LeaseState.RENEWING else holding.state
    return replace(holding, state=state, due=now + wait_s)


def refused(holding: LeaseHolding, now: float) -> LeaseHolding:
    """Vault will not renew it: it is replaced at once, because most of its time has gone by."""
    if holding.state is not LeaseState.RENEWING:
        return holding
    return replace(holding, state=LeaseState.EXPIRING, due=now)


def superseded(holding: LeaseHolding, now: float) -> LeaseHolding:
    """The token that it was read with has been replaced, and ends it."""
    if holding.state not in (LeaseState.GRANTED, LeaseState.RENEWING):
        return holding
    return replace(holding, state=LeaseState.EXPIRING, due=now, ends=min(holding.ends, now))


def lost(holding: LeaseHolding, now: float) -> LeaseHolding:
    """Vault does not know it any more: another one is read at once."""
    if holding.state in ENDED:
        return holding
    return replace(holding, state=LeaseState.LOST, due=now, ends=min(holding.ends, now))


def revoked(holding: LeaseHolding) -> LeaseHolding:
    """Its pod has ended."""
    return holding if holding.state in ENDED else replace(holding, state=LeaseState.REVOKED)


def _times(ttl_s: float, since: float, roll: float) -> tuple[float, float]:
    """When it ends, and when it is due."""
    share = RENEW_AT * (1 + JITTER * (roll - 0.5))
    return since + ttl_s, since + ttl_s * share
