"""Whether Vault may be asked, by how the last calls to it have ended.

Closed: everybody may ask. Open: nobody may, until a probe has found Vault well. Half open: one caller may
try, and the end of its call decides.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Literal

from nemutator_common.backoff import Backoff

from nemutator_agent.credentials.vault.failures import Outage, VaultUnavailableError

CircuitState = Literal["closed", "half_open", "open"]

FAILURES = 3
"""In a row, of two callers at least: what fails for one pod alone may be the fault of what it asks for."""

FAILURES_OF_ONE = 10
"""In a row, where nobody else asks."""

TURN_S = 2.0
"""For so long others may try first, after a try that failed."""

BACKOFF = Backoff(first_s=1.0, longest_s=10.0)

OUR_OWN: frozenset[Outage] = frozenset({"crowded", "unsettled"})
"""They say nothing of Vault: what answers is well."""


@dataclass(slots=True)
class CircuitBreaker:
    state: CircuitState = "closed"
    outage: VaultUnavailableError | None = None
    """The last one, unless closed."""
    until: float = 0.0
    """By the monotonic clock; while open, Vault is not probed before that."""
    _failures: int = 0
    _callers: set[Hashable] = field(default_factory=set)
    """Of the failures in a row; two are as good as more."""
    _probes: int = 0
    """In vain, since it was closed."""
    _trying: Hashable = None
    _tried: Hashable = None

    def admits(self, caller: Hashable, now: float) -> bool:
        """Whether *caller* may ask now; then it reports how that has ended."""
        if self.state == "half_open":
            free = self._trying is None and (caller != self._tried or now >= self.until + TURN_S)
            if free:
                self._trying = caller
            return free
        return self.state == "closed"

    def succeeded(self) -> None:
        """Vault has answered, be it with a denial."""
        self.state, self.outage = "closed", None
        self._failures = self._probes = 0
        self._callers.clear()
        self._trying = self._tried = None

    def failed(
        self, caller: Hashable, outage: VaultUnavailableError, now: float, *, roll: float
    ) -> None:
        if outage.reason in OUR_OWN:
            self.left(caller)
            return
        self._failures += 1
        if len(self._callers) < 2:
            self._callers.add(caller)
        if self.state == "half_open" and caller == self._trying:
            self._tried = caller
            self._open(outage, now, roll)
        elif self.state == "closed" and self._is_enough(outage):
            self._open(outage, now, roll)

    def left(self, caller: Hashable) -> None:
        """It has asked, and does not know how that would have ended."""
        if self._trying == caller:
            self._trying = None

    def probed(self, outage: VaultUnavailableError | None, now: float, *, roll: float) -> None:
        """A probe of an open circuit has ended, with *outage* or well."""
        if self.state != "open":
            return
        if outage is not None:
            self._open(outage, now, roll)
        else:
            self.state, self.until = "half_open", now

    def _is_enough(self, outage: VaultUnavailableError) -> bool:
        if outage.reason == "sealed":
            # Vault says itself that it can serve nobody.
            return True
        return self._failures >= (FAILURES if len(self._callers) > 1 else FAILURES_OF_ONE)

    def _open(self, outage: VaultUnavailableError, now: float, roll: float) -> None:
        self._probes += 1
        self._trying = None
        self.state, self.outage = "open", outage
        wait_s = BACKOFF.delay_s(self._probes, roll=roll)
        self.until = now + max(wait_s, outage.retry_after_s or 0.0)
