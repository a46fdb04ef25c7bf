"""How long a token of Vault lasts, and when it is renewed."""

from dataclasses import dataclass

from nemutator_common.secret import Secret

RENEW_AT = 2 / 3
JITTER = 0.1
"""The share of that time by which renewals vary, so that pods which started together renew apart."""

MARGIN_S = 2.0
"""A token that ends sooner is not used any more, because the call takes time, too."""

LONGEST_S = 86_400.0
"""Also for a token that never ends (Vault gives it 0 s): to renew it once a day costs little."""


@dataclass(frozen=True, slots=True)
class Lease:
    """What Vault answers to a login and to a renewal."""

    token: Secret
    ttl_s: float
    renewable: bool
    ours: bool = True
    """Whether it was made for us, so that we end it. One that the operator has made goes on without us."""


@dataclass(frozen=True, slots=True)
class HeldLease:
    """A lease, and its times by the monotonic clock."""

    lease: Lease
    ends: float
    renew: float
    """When it is renewed; never, if it ends before that."""
    entry: int = 0
    """Its number in the ledger; 0 where there is none."""

    def alive(self, now: float) -> bool:
        return now < self.ends - MARGIN_S


def lasts_s(lease: Lease) -> float:
    """How long it lasts, counted from when it was given."""
    return min(lease.ttl_s, LONGEST_S) if lease.ttl_s > 0 else LONGEST_S


def hold(lease: Lease, since: float, *, roll: float, entry: int = 0) -> HeldLease:
    """The lease that Vault gave at *since*, with its times; *roll* is in [0, 1)."""
    ttl_s = lasts_s(lease)
    share = RENEW_AT * (1 + JITTER * (roll - 0.5))
    ends = since + ttl_s
    return HeldLease(lease, ends, since + ttl_s * share if lease.renewable else ends, entry)
