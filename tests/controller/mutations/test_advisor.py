"""Where there is no advice, the answer is a reason."""

from nemutator_controller.mutations.advisor import NoAdvice, WithoutAdvice, WorkloadRef


def test_without_advice_the_reason_is_given() -> None:
    workload = WorkloadRef("default", "Deployment", "web")
    answer = WithoutAdvice("too early").advise(workload, "app", "requests", "cpu")
    assert answer == NoAdvice("too early")
