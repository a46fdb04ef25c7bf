"""Before anybody knows anything, the answer is a reason."""

from nemutator_controller.mutations.advisor import NoAdvice, WithoutAdvice, WorkloadRef


def test_nobody_knows_and_says_why() -> None:
    workload = WorkloadRef("default", "Deployment", "web")
    answer = WithoutAdvice().advise(workload, "app", "requests", "cpu")
    assert answer == NoAdvice("no advice has come from the brain yet")
