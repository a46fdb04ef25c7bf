"""A decision is on the disk before it is answered, what was previewed beside it first."""

import pytest
from nemutator_common import names
from nemutator_controller.admission.frames import NotSavedError
from nemutator_controller.admission.recording import DecisionLog
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.policies.plans import MutationPlan

from tests.fakes.admission import MemoryRecords
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

EDIT = Edit(path="metadata.labels[team]", before=(), after=("a",), verb="labels", policy="team")


def decision(kind: str = "Pod") -> Decision:
    subject = Subject(api_version="v1", kind=kind, namespace="default", name="web")
    return Decision(
        id="d0",
        at=0.0,
        request_uid="u",
        operation="CREATE",
        mode="apply",
        subject=subject,
        edits=(EDIT,),
    )


async def test_a_preview_is_saved_first_and_only_the_change_waits_for_the_disk() -> None:
    records = MemoryRecords()
    decisions = DecisionLog(records, fake_process())
    await decisions.save(decision(), (EDIT,), edited=True, durable=True)
    assert [(each["id"], each["mode"]) for each in records.kept] == [
        ("d0-preview", "preview"),
        ("d0", "apply"),
    ]
    assert records.durable == [False, True]
    await decisions.save(decision(), (), edited=False, durable=True)
    assert len(records.kept) == 2
    records.failure = NotSavedError("disk", "full")
    with pytest.raises(NotSavedError):
        await decisions.save(decision(), (), edited=True, durable=False)


@pytest.mark.parametrize(
    ("kind", "event", "key"),
    [("Pod", "pod_decided", names.POD), ("Deployment", "workload_decided", names.OBJECT)],
)
def test_it_is_counted_by_verb_and_logged(
    kind: str, event: str, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    meter = MemoryMeter()
    decisions = DecisionLog(MemoryRecords(), fake_process(meter=meter))
    decisions.note(decision(kind), MutationPlan(edits=(EDIT, EDIT)), "patched")
    assert meter.value(names.ADMISSION_EDITS, verb="labels") == 2
    [line] = caplog.records
    assert line.message == event
    assert line.args == {
        key: "default/web",
        names.RESULT: "patched",
        names.DECISION: "d0",
        names.COUNT: 2,
    }
