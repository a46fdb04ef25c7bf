"""The patch of an answer, proven on our own copy; and which objects are too large to plan for."""

from typing import Any

from nemutator_controller.admission.outcomes import FailedError
from nemutator_controller.mutations.decisions import Edit
from nemutator_controller.mutations.edits import Writing, same
from nemutator_controller.mutations.injection import INIT_CONTAINER
from nemutator_controller.mutations.patches import (
    MOST,
    PatchError,
    apply_patch,
    finished,
    render_and_apply,
)
from nemutator_controller.mutations.paths import LONGEST_NAME, PathError, parse_path
from nemutator_controller.mutations.qos import LISTS
from nemutator_controller.mutations.stamps import stamp_text, stamping

MOST_CONTAINERS = 128
"""Containers of a pod, with its init containers. A plan for more would delay everybody else's pods."""


def too_large(pod: Any) -> str:
    """Why a plan for *pod* would delay others; empty when it would not."""
    spec = pod.get("spec") if isinstance(pod, dict) else None
    lists = (spec.get(field) for field in LISTS) if isinstance(spec, dict) else ()
    containers = [each for listed in lists if isinstance(listed, list) for each in listed]
    container_names = [each.get("name") for each in containers if isinstance(each, dict)]
    # Our container does not count: the server may ask again about a pod that has it already.
    if len(containers) - container_names.count(INIT_CONTAINER) > MOST_CONTAINERS:
        return f"more than {MOST_CONTAINERS} containers"
    if any(isinstance(name, str) and len(name) > LONGEST_NAME for name in container_names):
        # Each glob of each policy would be matched against it.
        return f"a container's name has more than {LONGEST_NAME} characters"
    return ""


def patch_of(
    pod: Any, kind: str, edits: tuple[Edit, ...], stamp: str, made_by: Writing | None = None
) -> list[dict[str, Any]]:
    """The patch for *edits* and the *stamp*, proven on our own copy; *made_by* has made those edits."""
    stamped = stamping(stamp_text(pod, kind), stamp, kind=kind)
    try:
        if made_by is None:
            operations, wanted = render_and_apply(pod, (*edits, stamped), kind)
        else:
            made_by.write(parse_path(stamped.path), stamped.after)
            operations, wanted = finished(pod, made_by, (*edits, stamped))
        made = apply_patch(pod, operations)
    except (PatchError, PathError) as error:
        raise FailedError("self_check", f"the patch would not apply: {error}") from error
    if not same(wanted, made):
        raise FailedError("self_check", "the patch would not make the planned pod")
    if len(operations) > MOST:
        raise FailedError("too_large", f"more than {MOST} operations")
    return operations
