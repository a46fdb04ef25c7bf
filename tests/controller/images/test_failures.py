"""What a failure says."""

from typing import get_args

from nemutator_controller.images.failures import OF_REGISTRY, ImageUnreadableError, Reason


def test_a_failure_has_a_reason_for_metrics_and_a_text_for_people() -> None:
    failure = ImageUnreadableError("busy", "too many requests", retry_after_s=7.0)
    assert (failure.reason, str(failure), failure.retry_after_s) == ("busy", "too many requests", 7)
    assert frozenset(get_args(Reason)) > OF_REGISTRY
