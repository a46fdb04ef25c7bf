"""Counts what a plan has found beside its edits: what is not allowed, not pinned, and left alone."""

from nemutator_common import names
from nemutator_common.meters import Meter

from nemutator_controller.policies.plans import MutationPlan


def count_findings(planned: MutationPlan, meter: Meter) -> None:
    for offender in planned.offenders:
        meter.count(names.IMAGE_OFFENDERS, result=offender.result)
    for reason in planned.unpinned:
        meter.count(names.IMAGES_UNPINNED, reason=reason)
    for left in planned.left_labels:
        meter.count(names.LABELS_LEFT, reason=left.reason)
    for unresolved in planned.unresolved:
        meter.count(names.PLACEHOLDERS_UNRESOLVED, reason=unresolved.why)
