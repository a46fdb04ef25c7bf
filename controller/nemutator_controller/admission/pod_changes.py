"""What is done to a pod by its plan: the patch with its stamp, and the record of it."""

from typing import Any

import msgspec

from nemutator_controller.admission.known_plans import Circumstances, KnownPlan, PlanKey
from nemutator_controller.admission.outcomes import Result
from nemutator_controller.admission.proven_patches import patch_of
from nemutator_controller.admission.recent_stamps import Origin
from nemutator_controller.admission.reviews import (
    MOST_WARNINGS,
    UNCHANGED,
    AdmissionRequest,
    AdmissionResponse,
)
from nemutator_controller.mutations.decisions import Decision, Edit, Subject
from nemutator_controller.mutations.operations import Operation
from nemutator_controller.mutations.stamps import Stamp, in_full, merged, stamp_of, written
from nemutator_controller.policies.plans import MutationPlan

POD = "Pod"


class PodChange(msgspec.Struct, frozen=True, gc=False):
    """Before it is recorded."""

    decision: str
    planned: MutationPlan
    edits: tuple[Edit, ...]
    """With those that were made before another webhook changed the pod."""
    stamp: Stamp | None
    operations: list[Operation]
    durable: bool
    stamp_text: str | None = None
    """Of the stamp with all its edits; None: there is no room for them, or the plan was known."""
    is_again: bool = False
    """Whether the plan was known."""


class SavedChange(msgspec.Struct, frozen=True, gc=False):
    """What is recorded and remembered of a change."""

    pod: Any
    origin: Origin
    change: PodChange
    known: KnownPlan | None
    """By which further pods of the same revision get the same; None: this is the first one."""
    circumstances: Circumstances
    record: Decision | None
    """None: it is a dry run."""
    key: PlanKey | None = None
    """By which its plan is found."""
    plan: KnownPlan | None = None
    """None: it was not known."""


class DecidedRequest(msgspec.Struct, frozen=True, gc=False):
    """How a request ends, once what has to be recorded is."""

    result: Result
    response: AdmissionResponse = UNCHANGED
    subject: Subject | None = None
    planned: MutationPlan | None = None
    namespace_unknown: bool = False
    saved: SavedChange | None = None


def change_of(
    pod: Any, planned: MutationPlan, decision: str, lost: Stamp | None, *, strict: bool
) -> PodChange:
    """What is *planned* for *pod*, which may have *lost* its stamp to another webhook. Raises `FailedError`."""
    operations: list[Operation] = []
    edits, stamp, durable = planned.edits, lost, strict
    full: str | None = None
    if planned.edits:
        # What was written straight into the pod was planned for one without a stamp.
        earlier = None if planned.writing is not None else stamp_of(pod, POD)
        stamp = merged(lost or earlier, decision, planned.edits, new=True)
        # The server asks again about a pod that another webhook has changed. The pod carries the
        # id of this decision, so taking this one back has to take back all that was done.
        edits = stamp.edits or planned.edits
    if stamp is not None:
        full = in_full(stamp)
        # Without room for its edits, the pod alone does not say what was done to it.
        durable = durable or full is None
        operations = patch_of(pod, POD, planned.edits, full or written(stamp), planned.writing)
    return PodChange(decision, planned, edits, stamp, operations, durable, full)


def change_again(known: KnownPlan, decision: str, *, strict: bool) -> PodChange:
    """The change of a further pod like one that was planned for."""
    edits = known.planned.edits
    operations = known.operations_for(known.stamp_text(decision))
    return PodChange(
        decision, known.planned, edits, Stamp(decision, edits), operations, strict, is_again=True
    )


def record_of(
    request: AdmissionRequest, subject: Subject, change: PodChange, *, at: float
) -> Decision:
    return Decision(
        id=change.decision,
        at=at,
        request_uid=request.uid,
        operation=request.operation,
        mode="apply",
        subject=subject,
        edits=change.edits,
        warnings=change.planned.warnings[:MOST_WARNINGS],
        trace=request.trace,
        caller=request.caller,
    )
