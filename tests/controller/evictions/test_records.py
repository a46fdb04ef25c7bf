from nemutator_controller.evictions.records import (
    NotAllowedNowError,
    NotEvictedError,
    OwningWorkload,
    PodGoneError,
)


def test_workloads_of_one_name_are_told_apart_by_namespace_and_kind() -> None:
    web = OwningWorkload("shop", "Deployment", "web")
    others = {
        OwningWorkload("bank", "Deployment", "web"),
        OwningWorkload("shop", "DaemonSet", "web"),
    }
    assert web == OwningWorkload("shop", "Deployment", "web")
    assert web not in others


def test_who_waits_for_a_budget_has_not_been_evicted_and_who_is_gone_needs_nothing() -> None:
    assert issubclass(NotAllowedNowError, NotEvictedError)
    assert not issubclass(PodGoneError, NotEvictedError)
