"""A change has its patch, its stamp and its record, with what was done to the pod before it."""

from typing import Any

import pytest
from nemutator_controller.admission.known_plans import KnownPlan, end_of_stamps
from nemutator_controller.admission.pod_changes import change_again, change_of, record_of
from nemutator_controller.admission.reviews import MOST_WARNINGS, AdmissionRequest
from nemutator_controller.mutations.decisions import pod_subject
from nemutator_controller.mutations.patches import apply_patch
from nemutator_controller.mutations.stamps import LONGEST, Stamp, parse_stamp, written
from nemutator_controller.policies.plans import MutationPlan

from tests.controller.mutations.pods import edit

TEAM = edit("metadata.labels[team]", None, "a")
SIZE = edit("metadata.labels[size]", None, "m")
STAMP = "nemutator.io/mutation"


def pod() -> Any:
    return {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "app"}]}}


def stamp_in(made: Any) -> Stamp | None:
    return parse_stamp(made["metadata"]["annotations"][STAMP])


def test_the_patch_makes_the_plan_and_writes_the_stamp() -> None:
    change = change_of(pod(), MutationPlan(edits=(TEAM,)), "d1", None, strict=False)
    made = apply_patch(pod(), change.operations)
    assert made["metadata"]["labels"] == {"team": "a"}
    assert stamp_in(made) == change.stamp
    assert (change.edits, change.durable, change.is_again) == ((TEAM,), False, False)
    assert change_of(pod(), MutationPlan(edits=(TEAM,)), "d1", None, strict=True).durable


def test_a_stamp_that_was_lost_is_given_back_with_what_is_done_now() -> None:
    lost = Stamp("d1", (SIZE,))
    given_back = change_of(pod(), MutationPlan(), "d1", lost, strict=False)
    assert stamp_in(apply_patch(pod(), given_back.operations)) == lost
    further = change_of(pod(), MutationPlan(edits=(TEAM,)), "d2", lost, strict=False)
    assert further.edits == (SIZE, TEAM)
    assert stamp_in(apply_patch(pod(), further.operations)) == Stamp("d2", (SIZE, TEAM))


def test_what_the_stamp_has_no_room_for_is_on_the_disk_first() -> None:
    long = edit("metadata.annotations[note]", None, "x" * LONGEST)
    change = change_of(pod(), MutationPlan(edits=(long,)), "d1", None, strict=False)
    assert change.durable
    assert stamp_in(apply_patch(pod(), change.operations)) == Stamp("d1", None)


def test_only_previewed_changes_make_no_patch() -> None:
    change = change_of(pod(), MutationPlan(previewed=(TEAM,)), "d1", None, strict=False)
    assert (change.operations, change.stamp, change.edits) == ([], None, ())


@pytest.mark.parametrize("id_", ["d2", "0123456789abcdef", '"', "d" * 17, ""])
def test_the_stamp_of_a_further_pod_is_as_any_other(id_: str) -> None:
    known = KnownPlan(MutationPlan(edits=(TEAM,)), (), 0, end_of_stamps((TEAM,)) or "")
    assert known.behind_id
    assert known.stamp_text(id_) == written(Stamp(id_, (TEAM,)))


def test_edits_for_which_no_stamp_has_room_have_no_end_of_stamps() -> None:
    assert end_of_stamps((TEAM,) * 1_000) is None


def test_a_further_pod_gets_the_same_with_a_stamp_of_its_own() -> None:
    first = change_of(pod(), MutationPlan(edits=(TEAM,)), "d1", None, strict=False)
    values = [each.get("value") for each in first.operations]
    [at] = [
        index for index, value in enumerate(values) if isinstance(value, dict) and STAMP in value
    ]
    known = KnownPlan(first.planned, tuple(first.operations), at)
    again = change_again(known, "d2", strict=False)
    assert again.is_again
    made = apply_patch(pod(), again.operations)
    assert made["metadata"]["labels"] == {"team": "a"}
    assert stamp_in(made) == Stamp("d2", (TEAM,))


def test_the_record_says_who_asked_about_what() -> None:
    planned = MutationPlan(edits=(TEAM,), warnings=("w",) * (MOST_WARNINGS + 1))
    change = change_of(pod(), planned, "d1", None, strict=False)
    request = AdmissionRequest(uid="u", operation="CREATE", caller="10.0.0.1")
    record = record_of(request, pod_subject("shop", "web"), change, at=7.0)
    assert (record.id, record.at, record.request_uid, record.caller) == ("d1", 7.0, "u", "10.0.0.1")
    assert record.edits == (TEAM,)
    assert len(record.warnings) == MOST_WARNINGS
