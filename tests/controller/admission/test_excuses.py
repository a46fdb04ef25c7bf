"""A pod that could not be decided is let in unchanged, but for one that must not run without us."""

import msgspec
import pytest
from nemutator_common import names
from nemutator_controller.admission.excuses import Excuses
from nemutator_controller.admission.frames import NotSavedError
from nemutator_controller.admission.outcomes import FailedError, Rules
from nemutator_controller.admission.reviews import decode
from nemutator_controller.mutations.injection import Injector

from tests.fakes.admission_reviews import review
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process

INJECTOR = Injector("agent:1")


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (FailedError("too_large", "large"), "too_large"),
        (NotSavedError("spool_full", "full"), "spool_full"),
        (TimeoutError(), "late"),
        (ZeroDivisionError(), "internal"),
    ],
)
@pytest.mark.parametrize("injector", [None, INJECTOR])
@pytest.mark.parametrize("wish", ["required", "enabled", 3])
def test_only_who_requires_us_is_kept_out(
    error: Exception, reason: str, injector: Injector | None, wish: object
) -> None:
    meter = MemoryMeter()
    rules = Rules(own_namespace="nemutator", injector=injector, strict=False)
    pod = {"metadata": {"labels": {"nemutator.io/inject": wish}}}
    excuses = Excuses(rules, fake_process(meter=meter))
    result, response = excuses.of(decode(msgspec.json.encode(review(pod))), error)
    is_kept_out = wish == "required" and injector is not None
    assert (result, bool(response.refused)) == (
        ("denied", True) if is_kept_out else ("failed", False)
    )
    assert bool(response.warnings) is not is_kept_out
    assert meter.value(names.ADMISSION_FAILURES, reason=reason) == 1
