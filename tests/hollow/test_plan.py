import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hollow.plan import SUFFIXES, Life, Plan, random_looking

plans = st.builds(
    Plan,
    nodes=st.integers(1, 50),
    pods=st.integers(0, 400),
    namespaces=st.integers(1, 6),
    largest_workload=st.integers(1, 60),
    seed=st.integers(0, 1000),
)


@given(plans)
def test_a_plan_has_as_many_pods_as_are_wanted_each_with_its_own_name(plan: Plan) -> None:
    lives = list(plan.lives())
    assert len(lives) == plan.pods
    assert len({(life.workload.namespace, life.name) for life in lives}) == plan.pods


@given(plans)
def test_a_plan_is_the_same_again(plan: Plan) -> None:
    again = Plan(
        nodes=plan.nodes,
        pods=plan.pods,
        namespaces=plan.namespaces,
        largest_workload=plan.largest_workload,
        seed=plan.seed,
    )
    assert [life.name for life in again.lives()] == [life.name for life in plan.lives()]
    assert [(each.name, each.namespace, each.shape) for each in again.workloads] == [
        (each.name, each.namespace, each.shape) for each in plan.workloads
    ]


def test_another_seed_gives_other_workloads() -> None:
    one, other = Plan(nodes=1, pods=100), Plan(nodes=1, pods=100, seed=1)
    assert [each.shape for each in one.workloads] != [each.shape for each in other.workloads]


@given(plans)
def test_workloads_are_within_their_bounds(plan: Plan) -> None:
    for workload in plan.workloads:
        assert 1 <= workload.replicas <= plan.largest_workload
        assert workload.namespace in plan.namespace_names
    assert len({workload.replica_set_name for workload in plan.workloads}) == len(plan.workloads)


@given(plans.filter(lambda plan: plan.pods > 0), st.integers(1, 5))
def test_nodes_are_filled_evenly_and_no_address_is_given_twice(plan: Plan, ends: int) -> None:
    first = list(plan.lives())
    for _, group in itertools.groupby(sorted(life.node for life in first)):
        assert len(list(group)) in {plan.pods // plan.nodes, -(-plan.pods // plan.nodes)}
    lives = first
    addresses = {life.address for life in first}
    for _ in range(ends):
        lives = [life.next for life in lives]
        addresses |= {life.address for life in lives}
    assert len(addresses) == plan.pods * (ends + 1)


@given(plans.filter(lambda plan: plan.pods > 0 and plan.nodes > 1))
def test_who_replaces_a_pod_has_another_name_and_another_node(plan: Plan) -> None:
    for life in plan.lives():
        assert life.next.seat == life.seat
        assert life.next.name != life.name
        assert life.next.node != life.node


def test_no_name_comes_back_within_a_replica_set() -> None:
    workload = Plan(nodes=1, pods=7, largest_workload=7).workloads[0]
    seats, ends = range(workload.replicas), range(2000)
    names = {Life(workload, seat, number).name for seat in seats for number in ends}
    assert len(names) == workload.replicas * 2000


@given(st.sets(st.integers(0, SUFFIXES - 1), max_size=50), st.integers(0, 10_000))
def test_random_looking_letters_differ_for_each_number(numbers: set[int], salt: int) -> None:
    assert len({random_looking(number, salt) for number in numbers}) == len(numbers)


@pytest.mark.parametrize("name", ["", "Hollow", "9lives", "a" * 21, "a-", "a.b"])
def test_a_name_that_no_object_could_have_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="DNS label"):
        Plan(nodes=1, pods=1, name=name)


@pytest.mark.parametrize(("nodes", "pods"), [(0, 1), (1, -1)])
def test_counts_that_make_no_fleet_are_refused(nodes: int, pods: int) -> None:
    with pytest.raises(ValueError, match="a fleet has"):
        Plan(nodes=nodes, pods=pods)
