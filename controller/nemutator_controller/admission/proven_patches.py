"""The patch of an answer, proven on our own copy."""

from typing import Any

from nemutator_controller.admission.outcomes import FailedError
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.object_writes import Writing
from nemutator_controller.mutations.patches import (
    MOST,
    PatchError,
    apply_patch,
    finished,
    render_and_apply,
)
from nemutator_controller.mutations.paths import PathError
from nemutator_controller.mutations.stamps import stamp_path, stamp_text, stamping


def patch_of(
    pod: Any, kind: str, edits: tuple[Edit, ...], stamp: str, made_by: Writing | None = None
) -> list[dict[str, Any]]:
    """The patch for *edits* and the *stamp*, proven on our own copy; *made_by* has made those edits."""
    try:
        if made_by is None:
            stamped = stamping(stamp_text(pod, kind), stamp, kind=kind)
            operations, wanted = render_and_apply(pod, (*edits, stamped), kind)
        else:
            # It has written straight into a pod without a stamp.
            made_by.write(stamp_path(kind), (stamp,))
            operations, wanted = finished(pod, made_by, (*edits, stamping((), stamp, kind=kind)))
        made = apply_patch(pod, operations)
    except (PatchError, PathError) as error:
        raise FailedError("self_check", f"the patch would not apply: {error}") from error
    # What is not shared is the same few values: both have those of the operations. So 1 and true, which are
    # equal to Python, are never compared here.
    if wanted != made:
        raise FailedError("self_check", "the patch would not make the planned pod")
    if len(operations) > MOST:
        raise FailedError("too_large", f"more than {MOST} operations")
    return operations
