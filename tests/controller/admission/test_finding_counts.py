from nemutator_common import names
from nemutator_controller.admission.finding_counts import count_findings
from nemutator_controller.mutations.image import Offender
from nemutator_controller.mutations.known_tokens import Unresolved
from nemutator_controller.mutations.labels import LeftLabel
from nemutator_controller.policies.plans import MutationPlan

from tests.fakes.meters import MemoryMeter


def test_each_finding_is_counted_by_its_reason() -> None:
    meter = MemoryMeter()
    planned = MutationPlan(
        offenders=(Offender("p", "x", "previewed"),),
        unpinned=("off",),
        left_labels=(LeftLabel("selected", "x"), LeftLabel("unwanted", "y")),
        unresolved=(Unresolved("p", "nemu_x", "unknown", "z"),) * 2,
    )
    count_findings(planned, meter)
    assert meter.value(names.IMAGE_OFFENDERS, result="previewed") == 1
    assert meter.value(names.IMAGES_UNPINNED, reason="off") == 1
    assert meter.value(names.LABELS_LEFT, reason="selected") == 1
    assert meter.value(names.LABELS_LEFT, reason="unwanted") == 1
    assert meter.value(names.PLACEHOLDERS_UNRESOLVED, reason="unknown") == 2
