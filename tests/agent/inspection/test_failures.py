from nemutator_agent.inspection.failures import WorkerFailedError


def test_why_a_worker_failed_is_a_word_for_a_metric_and_for_people() -> None:
    failure = WorkerFailedError("hung")
    assert failure.reason == "hung"
    assert str(failure) == "hung"
