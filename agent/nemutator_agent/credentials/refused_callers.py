"""Counts and records the callers of one socket who are refused."""

from dataclasses import dataclass, field

from nemutator_common import names
from nemutator_common.process import Process

from nemutator_agent.credentials.audit import Audit, AuditSubject
from nemutator_agent.credentials.http_refusals import HttpRefusal, not_attested
from nemutator_agent.credentials.rate_limits import RateLimit, unattested_records
from nemutator_agent.identity.failures import AttestationError


@dataclass(eq=False, slots=True)
class RefusedCallers:
    process: Process
    audit: Audit
    records: RateLimit = field(default_factory=unattested_records)

    def unattested(self, caller: AuditSubject, error: AttestationError) -> HttpRefusal:
        """The answer for a caller who is not let in at all."""
        if self.records.take(self.process.clock.monotonic()):
            self.audit.record(caller, "connect", "denied", reason=error.step)
        return self.counted(not_attested(error))

    def counted(self, refusal: HttpRefusal) -> HttpRefusal:
        self.process.meter.count(names.CREDENTIAL_REFUSALS, step=refusal.step)
        return refusal
