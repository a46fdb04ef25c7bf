from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.advisor import (
    Name,
    NoAdvice,
    RecommendedAmount,
    Side,
    WorkloadRef,
)
from nemutator_controller.mutations.decisions import Subject
from nemutator_controller.policies.plans import MutationPlan, Situation, plan
from nemutator_controller.policies.snapshot import RESIZES_HELD, Policies
from nemutator_controller.updating.at_creation import policy_at_creation


class Advised:
    def __init__(self, **amounts: str) -> None:
        self.amounts = amounts

    def advise(
        self, workload: WorkloadRef, container: str, side: Side, name: Name
    ) -> RecommendedAmount | NoAdvice:
        text = self.amounts.get(name)
        if text is None or side == "limits":
            return NoAdvice("none")
        return RecommendedAmount(parse_quantity(text), "nemutator, 500 points")


def made(
    specs: dict[str, Any], resources: dict[str, Any], *, namespace: str = "shop", **advised: str
) -> MutationPlan:
    manifest = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"generateName": "cart-1-", "namespace": namespace, "labels": {"tier": "web"}},
        "spec": {"containers": [{"name": "app", "image": "x", "resources": resources}]},
    }
    found = [policy_at_creation(name, spec) for name, spec in sorted(specs.items())]
    subject = Subject(
        api_version="v1",
        kind="Pod",
        namespace=namespace,
        name="",
        uid="",
        owner_kind="Deployment",
        owner_name="cart",
    )
    situation = Situation(subject=subject, advisor=Advised(**advised))
    return plan(manifest, situation, [each for each in found if each is not None])


def paths(found: MutationPlan) -> dict[str, str]:
    return {each.path: each.after[0] for each in found.edits}


ASKED = {"requests": {"cpu": "100m", "memory": "100M"}, "limits": {"memory": "150M"}}
CPU, MEMORY, LIMIT = (
    f"containers[name=app].resources.{each}"
    for each in ("requests.cpu", "requests.memory", "limits.memory")
)


@pytest.mark.parametrize("mode", ["Initial", "InPlace", "Evict"])
def test_new_pods_get_what_is_advised_within_bounds(mode: str) -> None:
    spec = {"mode": mode, "resources": {"cpu": {"max": "300m"}}}
    found = made({"a": spec}, ASKED, cpu="900m", memory="120M")
    assert paths(found) == {CPU: "300m", MEMORY: "120M"}
    assert {each.policy for each in found.edits} == {"SizingPolicy/a"}


def test_off_says_nothing_and_is_the_one_that_its_pods_follow_as_when_they_run() -> None:
    neither = {"cpu": {"enabled": False}, "memory": {"enabled": False}}
    for spec in ({"mode": "Off"}, {"mode": "Initial", "resources": neither}):
        assert paths(made({"a": spec, "b": {"mode": "Initial"}}, ASKED, cpu="200m")) == {}


def test_what_has_faults_is_nobodys() -> None:
    assert policy_at_creation("a", {"mode": "Initial", "nonsense": 1}) is None


def test_a_memory_limit_that_is_too_low_goes_up_with_the_request_and_never_down() -> None:
    found = made({"a": {"mode": "Initial"}}, ASKED, memory="400M")
    assert paths(found) == {MEMORY: "400M", LIMIT: "400M"}
    lower = made({"a": {"mode": "Initial"}}, ASKED, memory="60M")
    assert paths(lower) == {MEMORY: "60M"}


def test_only_the_first_policy_that_selects_a_pod_is_followed() -> None:
    specs: dict[str, Any] = {
        "a": {"mode": "Initial", "match": {"names": ["other"]}},
        "b": {"mode": "Initial", "match": {"names": ["cart"], "kinds": ["Deployment"]},
              "resources": {"memory": {"enabled": False}}},
        "c": {"mode": "Initial"},
    }  # fmt: skip
    assert paths(made(specs, ASKED, cpu="200m", memory="120M")) == {CPU: "200m"}


def test_names_are_those_of_workloads() -> None:
    spec = {"mode": "Initial", "match": {"names": ["cart-*"]}}
    assert paths(made({"a": spec}, ASKED, cpu="200m")) == {}


def test_the_systems_own_pods_follow_none() -> None:
    assert paths(made({"a": {"mode": "Initial"}}, ASKED, namespace="kube-system", cpu="1")) == {}


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=5),
        lambda one: st.dictionaries(st.text(max_size=8), one, max_size=4),
    )
)
def test_whatever_somebody_has_stored_is_no_failure(spec: Any) -> None:
    policy_at_creation("a", spec)


def test_new_pods_wait_for_its_time_and_season_too() -> None:
    when = {"windows": [{"from": "22:00", "to": "06:00"}], "season": ["off-peak"]}
    found = policy_at_creation("p", {"mode": "Initial", "when": when})
    assert found is not None
    policies, hour = Policies((found,)), 3_600

    def says(at_hour: int, *in_season: str) -> bool:
        [policy] = policies.at(at_hour * hour, frozenset(in_season)).for_pods
        return bool(policy.actions)

    assert says(23, "SizingPolicy/p")
    assert not says(23, "p")
    assert not says(12, "SizingPolicy/p")


def test_the_first_that_selects_a_pod_is_the_one_out_of_its_time_too() -> None:
    night = {"windows": [{"from": "22:00", "to": "06:00"}]}
    found = [
        policy_at_creation("a", {"mode": "Initial", "when": night}),
        policy_at_creation("b", {"mode": "Initial"}),
    ]
    policies = Policies(tuple(each for each in found if each is not None))
    at_noon = policies.at(12 * 3_600, frozenset())
    assert [bool(each.actions) for each in at_noon.for_pods] == [False, True]
    assert [each.name for each in at_noon.for_pods] == ["SizingPolicy/a", "SizingPolicy/b"]


@pytest.mark.parametrize(("mode", "says"), [("Initial", False), ("InPlace", True)])
def test_while_resizes_are_held_new_pods_have_the_sizes_of_those_that_run(
    mode: str, *, says: bool
) -> None:
    found = policy_at_creation("p", {"mode": mode})
    assert found is not None
    policies = Policies((found,))
    [held] = policies.at(0, frozenset({RESIZES_HELD})).for_pods
    assert bool(held.actions) is says
    [free] = policies.at(0, frozenset()).for_pods
    assert free.actions
