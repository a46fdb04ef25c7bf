from nemutator_agent.credentials.audit import Audit, AuditSubject
from nemutator_agent.credentials.http_refusals import too_many
from nemutator_agent.credentials.rate_limits import UNATTESTED_BURST, UNATTESTED_RATE
from nemutator_agent.credentials.refused_callers import RefusedCallers
from nemutator_agent.identity.failures import AttestationError
from nemutator_common import names
from nemutator_common.secret import Secret

from tests.fakes.clocks import ManualClock
from tests.fakes.meters import MemoryMeter
from tests.fakes.peers import RecordedGrants
from tests.fakes.process import fake_process


async def test_every_refusal_is_counted_and_a_flood_of_them_is_not_recorded() -> None:
    clock, meter, grants = ManualClock(), MemoryMeter(), RecordedGrants()
    process = fake_process(clock=clock, meter=meter)
    refused = RefusedCallers(process, Audit(grants, clock, node="n1", key=Secret("k")))
    caller, error = AuditSubject(caller="uid 7"), AttestationError("position", "elsewhere")
    for _ in range(100):
        answer = refused.unattested(caller, error)
        assert (answer.status, answer.step) == (403, "position")
    assert meter.value(names.CREDENTIAL_REFUSALS, step="position") == 100
    assert len(grants.all) == UNATTESTED_BURST
    assert {(each.operation, each.result, each.reason) for each in grants.all} == {
        ("connect", "denied", "position")
    }
    await clock.advance(3 / UNATTESTED_RATE)
    for _ in range(5):
        refused.unattested(caller, error)
    assert len(grants.all) == UNATTESTED_BURST + 3


def test_an_answer_that_is_counted_is_the_same() -> None:
    meter, grants = MemoryMeter(), RecordedGrants()
    process = fake_process(clock=ManualClock(), meter=meter)
    refused = RefusedCallers(process, Audit(grants, process.clock, node="n1", key=Secret("k")))
    answer = too_many()
    assert refused.counted(answer) is answer
    assert meter.value(names.CREDENTIAL_REFUSALS, step="rate") == 1
    assert grants.all == []
