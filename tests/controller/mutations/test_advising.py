"""Before anybody knows anything, the answer is a reason."""

from nemutator_controller.mutations.advising import NoAdvice, NobodyKnows, Workload


def test_nobody_knows_and_says_why() -> None:
    workload = Workload("default", "Deployment", "web")
    answer = NobodyKnows().advise(workload, "app", "requests", "cpu")
    assert answer == NoAdvice("no advice has come from the brain yet")
