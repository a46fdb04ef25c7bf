"""Counts and records the callers of one socket who are refused."""

from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_agent.credentials.audit import Audit, AuditSubject
from nemutator_agent.credentials.http_refusals import HttpRefusal, not_attested
from nemutator_agent.credentials.rate_limits import RateLimit
from nemutator_agent.identity.failures import AttestationError

UNATTESTED_RATE = 1.0
UNATTESTED_BURST = 10.0
"""Records a second: a caller who floods one socket must not push out the records of others."""


@dataclass(eq=False, slots=True)
class RefusedCallers:
    process: Process
    audit: Audit
    _records: RateLimit = field(
        default_factory=lambda: RateLimit(rate=UNATTESTED_RATE, burst=UNATTESTED_BURST), init=False
    )

    def unattested(self, caller: AuditSubject, error: AttestationError) -> HttpRefusal:
        """The answer for a caller who is not let in at all."""
        if self._records.take(self.process.clock.monotonic()):
            self.audit.record(caller, "connect", "denied", reason=error.step)
        return self.counted(not_attested(error))

    def counted(self, refusal: HttpRefusal) -> HttpRefusal:
        self.process.meter.count(names.CREDENTIAL_REFUSALS, step=refusal.step)
        return refusal
