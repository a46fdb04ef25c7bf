"""A status is applied to the policy that was meant, and what comes of it is counted."""

import msgspec
import pytest
from nemutator_common import names
from nemutator_controller.kube.budget import WriteBudget
from nemutator_controller.kube.failures import ConflictError, ForbiddenError, NotFoundError
from nemutator_controller.kube.objects import Metadata
from nemutator_controller.kube.writing import Writer
from nemutator_controller.policies.objects import MUTATION_POLICIES
from nemutator_controller.policies.status_applying import NotApplied, apply_status

from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process
from tests.fakes.scripted_kube import EagerClock, Said, ScriptedTransport

POLICY = msgspec.convert({"name": "p", "uid": "u"}, Metadata)


async def applied(answer: Said) -> tuple[bytes | NotApplied, ScriptedTransport, MemoryMeter]:
    api, meter = ScriptedTransport(answer), MemoryMeter()
    found = await apply_status(
        Writer(api, WriteBudget(EagerClock()), EagerClock()),
        MUTATION_POLICIES,
        POLICY,
        {"conditions": []},
        counted=names.POLICY_STATUSES,
        process=fake_process(meter=meter),
    )
    return found, api, meter


async def test_the_status_of_that_policy_alone_is_written_and_counted() -> None:
    found, api, meter = await applied(b'{"kind":"MutationPolicy"}')
    assert found == b'{"kind":"MutationPolicy"}'
    (call,) = api.calls
    assert call.path.endswith("/mutationpolicies/p/status")
    body = msgspec.json.decode(call.body)
    assert body["status"] == {"conditions": []}
    assert body["metadata"]["uid"] == "u"
    assert meter.value(names.POLICY_STATUSES, result="written") == 1


@pytest.mark.parametrize(
    "answer", [NotFoundError("mutationpolicies", "gone"), ConflictError("mutationpolicies", "uid")]
)
async def test_one_that_is_gone_is_no_failure(answer: Said) -> None:
    found, _, meter = await applied(answer)
    assert found == "gone"
    assert meter.value(names.POLICY_STATUSES, result="failed") == 0


async def test_what_the_api_server_refuses_is_counted() -> None:
    found, _, meter = await applied(ForbiddenError("mutationpolicies", "no"))
    assert found == "failed"
    assert meter.value(names.POLICY_STATUSES, result="failed") == 1
