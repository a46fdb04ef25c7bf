import gc

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.pods.budgets import (
    MOST_FURTHER,
    MOST_OF_ONE_POD,
    MOST_PODS,
    PodBudgets,
    too_many_volumes,
)


def test_the_volumes_of_a_pod_share_its_rate_and_pods_do_not() -> None:
    budgets = PodBudgets(5)
    one, again, other = budgets.of("u-1"), budgets.of("u-1"), budgets.of("u-2")
    assert one is again
    assert [one.requests.take(0.0) for _ in range(11)] == [True] * 10 + [False]
    assert other.requests.take(0.0)


def test_a_budget_ends_with_the_last_volume_that_uses_it() -> None:
    budgets = PodBudgets(1)
    used = budgets.of("u-1")
    assert used.requests.take(0.0)
    assert budgets.of("u-1") is used
    del used
    gc.collect()
    again = budgets.of("u-1")
    assert [again.requests.take(0.0) for _ in range(3)] == [True, True, False]


def test_each_bound_on_volumes_is_named() -> None:
    own = ["u-1"] * MOST_OF_ONE_POD
    assert too_many_volumes("u-1", own[1:]) is None
    assert (
        too_many_volumes("u-1", own)
        == f"no more than {MOST_OF_ONE_POD} volumes of one pod are served"
    )
    pods = [f"u-{number}" for number in range(MOST_PODS)]
    assert too_many_volumes("u-1", pods) is None
    assert too_many_volumes("other", pods[1:]) is None
    assert too_many_volumes("other", pods) == f"no more than {MOST_PODS} pods are served"


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 20)), max_size=80))
def test_no_pods_take_the_place_of_another(wanted: list[tuple[int, int]]) -> None:
    served: list[str] = []
    for pod, volumes in wanted:
        for _ in range(volumes):
            if too_many_volumes(f"u-{pod}", served) is None:
                served.append(f"u-{pod}")
    assert len(served) <= len(set(served)) + MOST_FURTHER
    assert too_many_volumes("one that is new", served) is None


def test_many_pods_with_many_volumes_each_meet_the_bound_of_all() -> None:
    pods = MOST_FURTHER // (MOST_OF_ONE_POD - 1) + 1
    full = [f"u-{pod}" for pod in range(pods) for _ in range(MOST_OF_ONE_POD)]
    refused = too_many_volumes("u-new", [*full, "u-new"])
    assert refused is not None
    assert str(MOST_FURTHER) in refused
