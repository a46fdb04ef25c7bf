"""Whether this brain leads, and when it may take the lease: client-go's rules of leader election.

Clocks of brains may differ by any amount. So nobody looks at the times in the lease: each brain measures by its
own steady clock for how long it has seen the lease unchanged. Who holds it counts from before it asked
to renew it, and stops after `DEADLINE_S`; others count from after that, and begin after `LEASE_S`. What
is between the two is the time in which the former holder's work must end.

A dead holder's work goes on elsewhere within 15 s, whatever the moment of its death: others have seen its last
renewal `WATCH_S` later at most, wait for `LEASE_S`, and ask again at that very moment. What is left of the 15 s
is for the answers of the API server, and for the work to begin.
"""

from dataclasses import dataclass, field, replace
from math import inf

LEASE_S = 11.0
"""For so long others leave it to a holder of whom nothing is heard."""

LONGEST_LEASE_S = 60.0
"""What a holder of another version may ask for. Anybody who may write the lease could ask for ever."""

DEADLINE_S = 7.0
"""After so long without having renewed it, the holder stops."""

RENEW_S = 2.0
"""From one renewal to the next."""

WATCH_S = 1.0
"""Between two readings of a lease that another one holds."""


@dataclass(frozen=True, slots=True)
class BrainLease:
    holder: str
    """Empty: the last one has released it."""
    acquired_at: float
    renewed_at: float
    """By the holder's clock: for people. Nobody compares them with a clock of their own."""
    transitions: int
    """How many holders there were before."""
    lasts_s: float = LEASE_S
    """For so long others leave it to its holder, which may be of another version and stop later than we would."""
    version: str = ""
    """As it was read; empty for one that is not there yet. It is another one after each write."""


class LeaseTakenError(Exception):
    """Somebody else has written it meanwhile."""


class LeaseUnavailableError(Exception):
    """It could not be read, or nobody knows whether it was written."""


@dataclass(slots=True)
class Election:
    me: str
    """Another name for each process: one that starts again does not know what the former one still does."""
    _seen: BrainLease | None = field(default=None, init=False)
    _seen_at: float = field(default=-inf, init=False)
    _until: float = field(default=-inf, init=False)

    @property
    def holder(self) -> str:
        """Who held the lease when it was last seen; empty: nobody."""
        return "" if self._seen is None else self._seen.holder

    def left_s(self, now: float) -> float:
        """For how long this brain leads without a further word; zero when it does not lead."""
        return max(0.0, self._until - now)

    def saw(self, lease: BrainLease | None, now: float) -> None:
        """Take note of what the lease was when it was read."""
        if lease is None:
            # Somebody has deleted it. Its holder does not know that yet, may have renewed it just before,
            # and has its time.
            if self._seen is not None and self._seen.version:
                self._seen, self._seen_at = replace(self._seen, version=""), now
            return
        if self._seen is None or lease.version != self._seen.version:
            self._seen, self._seen_at = lease, now
        if lease.holder != self.me:
            self._until = -inf

    def wanted(self, lease: BrainLease | None, now: float, *, wall: float) -> BrainLease | None:
        """What to write over *lease*, which was just seen; None: it is another one's."""
        mine = lease is not None and lease.holder == self.me
        if not mine and self._is_held_by_another(now):
            return None
        if lease is None:
            transitions = 0 if self._seen is None else self._seen.transitions + 1
            return BrainLease(self.me, acquired_at=wall, renewed_at=wall, transitions=transitions)
        if mine:
            return replace(lease, renewed_at=wall, lasts_s=LEASE_S)
        transitions = lease.transitions + 1
        return BrainLease(self.me, wall, wall, transitions, version=lease.version)

    def wrote(self, lease: BrainLease, begun: float) -> None:
        """*lease* was written by a request that was begun then."""
        self._seen, self._seen_at = lease, begun
        self._until = begun + DEADLINE_S

    def lost(self) -> None:
        """Another one was faster, or has it."""
        self._until = -inf

    def released(self) -> BrainLease | None:
        """What to write so that another one may begin at once; None: it is not ours. It leads no longer."""
        mine = self._seen is not None and self._seen.holder == self.me
        self._until = -inf
        return replace(self._seen, holder="") if mine and self._seen is not None else None

    def next_try_s(self, now: float) -> float:
        """For how long there is nothing to ask."""
        if self._is_held_by_another(now):
            return min(WATCH_S, self._free_at() - now)
        is_fresh = self.left_s(now) > DEADLINE_S - RENEW_S
        return RENEW_S if is_fresh else WATCH_S

    def _is_held_by_another(self, now: float) -> bool:
        if self._seen is None or self._seen.holder in ("", self.me):
            return False
        return now < self._free_at()

    def _free_at(self) -> float:
        lasts_s = LEASE_S if self._seen is None else self._seen.lasts_s
        return self._seen_at + min(max(lasts_s, LEASE_S), LONGEST_LEASE_S)
