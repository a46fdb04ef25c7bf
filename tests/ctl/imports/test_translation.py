from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.updating.model import GROUP, KIND, VERSION, sizing_of
from nemutator_ctl.imports.translation import Imported, imported

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}


def vpa(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"targetRef": TARGET, **spec},
    }


def one(**spec: Any) -> Imported:
    [found] = imported([vpa(**spec)])
    assert (found.policy["apiVersion"], found.policy["kind"]) == (f"{GROUP}/{VERSION}", KIND)
    sizing_of("p", found.policy["spec"])  # It is sound.
    return found


@pytest.mark.parametrize(
    ("word", "mode"),
    [
        ("Off", "Off"),
        ("Initial", "Initial"),
        ("Recreate", "Evict"),
        ("Auto", "Evict"),
        ("InPlaceOrRecreate", "Evict"),
        ("InPlace", "InPlace"),
        ("Sometimes", "Off"),
    ],
)
def test_modes_are_those_that_do_the_same(word: str, mode: str) -> None:
    found = one(updatePolicy={"updateMode": word, "minReplicas": 3})
    assert found.policy["spec"]["mode"] == mode
    assert found.policy["spec"]["minReplicas"] == 3


@pytest.mark.parametrize("word", ["Auto", "Recreate", "InPlaceOrRecreate", "InPlace", None])
def test_who_names_no_replicas_changes_no_workload_of_one_as_the_autoscaler_would_not(
    word: str | None,
) -> None:
    found = one(updatePolicy={"updateMode": word})
    assert found.policy["spec"]["minReplicas"] == 2
    assert any("minReplicas" in why for why in found.differences)


@pytest.mark.parametrize("word", ["Off", "Initial"])
def test_who_changes_no_pod_that_runs_needs_no_replicas(word: str) -> None:
    assert "minReplicas" not in one(updatePolicy={"updateMode": word}).policy["spec"]


@pytest.mark.parametrize("word", ["Recreate", "InPlaceOrRecreate"])
def test_that_an_only_pod_would_be_evicted_has_no_counterpart(word: str) -> None:
    found = one(updatePolicy={"updateMode": word, "minReplicas": 1})
    assert found.policy["spec"]["minReplicas"] == 1
    assert "the only pod of a workload is never evicted" in found.differences


def test_of_two_rules_for_one_container_the_autoscaler_takes_the_first() -> None:
    rules = [
        {"containerName": "*", "mode": "Off"},
        {"containerName": "app", "maxAllowed": {"cpu": "1"}},
        {"containerName": "app", "maxAllowed": {"cpu": "8"}},
    ]
    found = one(resourcePolicy={"containerPolicies": rules})
    assert found.policy["spec"]["resources"] == {"containers": ["app"], "cpu": {"max": "1"}}


@pytest.mark.parametrize(
    ("word", "mode"), [(False, "Off"), (True, "Off"), (7, "Off"), (None, "Evict")]
)
def test_a_mode_that_lost_its_quotes_evicts_nobody(word: Any, mode: str) -> None:
    found = one(updatePolicy={"updateMode": word})
    assert found.policy["spec"]["mode"] == mode
    assert any("updateMode" in why for why in found.differences) == (word in (True, 7))


def test_a_container_whose_off_lost_its_quotes_is_off() -> None:
    rules = [{"containerName": "*", "mode": False}, {"containerName": "app", "mode": "Auto"}]
    found = one(resourcePolicy={"containerPolicies": rules})
    assert found.policy["spec"]["resources"] == {"containers": ["app"]}


@pytest.mark.parametrize("target", [None, {}, {"kind": "Deployment"}, {"kind": "", "name": "web"}])
def test_without_a_target_it_is_left_out_and_why(target: Any) -> None:
    [found] = imported([vpa(targetRef=target)])
    assert found.fault == "it has no targetRef with a kind and a name"


def test_no_two_make_a_policy_of_the_same_name() -> None:
    called = []
    for namespace, name in (("a", "b-c"), ("a-b", "c")):
        each = vpa()
        each["metadata"] = {"namespace": namespace, "name": name}
        [found] = imported([each])
        called.append(found.policy["metadata"]["name"])
    assert called == ["a.b-c", "a-b.c"]


@pytest.mark.parametrize(
    ("namespace", "name"), [("shop", "n" * 250), ("shop", "Web"), ("a/b", "web")]
)
def test_a_name_that_no_policy_can_have_is_left_out_and_named(namespace: str, name: str) -> None:
    each = vpa()
    each["metadata"] = {"namespace": namespace, "name": name}
    [found] = imported([each])
    assert found.fault.endswith("is no name of a policy")


def test_it_is_for_the_same_workload_within_the_same_bounds() -> None:
    rule = {
        "containerName": "*",
        "minAllowed": {"cpu": "50m"},
        "maxAllowed": {"cpu": 2, "memory": "1Gi"},
        "controlledValues": "RequestsOnly",
    }
    found = one(resourcePolicy={"containerPolicies": [rule]})
    assert found.name == "shop/web"
    assert found.policy["metadata"]["name"] == "shop.web"
    spec = found.policy["spec"]
    assert spec["match"] == {"namespaces": ["shop"], "kinds": ["Deployment"], "names": ["web"]}
    assert spec["resources"] == {
        "cpu": {"min": "50m", "max": "2"},
        "memory": {"max": "1Gi"},
    }
    assert [why.partition(":")[0] for why in found.differences] == [
        "while the VerticalPodAutoscaler is there and not Off, its workload is left to it",
        "it names no minReplicas",
    ]


def test_containers_that_are_named_alone_stay_alone() -> None:
    rules = [{"containerName": "*", "mode": "Off"}, {"containerName": "app"}]
    found = one(resourcePolicy={"containerPolicies": rules})
    assert found.policy["spec"]["resources"] == {"containers": ["app"]}
    assert found.policy["spec"]["mode"] == "Evict"


@pytest.mark.parametrize(
    ("rules", "why"),
    [
        ([{"containerName": "proxy", "mode": "Off"}], "cannot be named (proxy)"),
        ([{"containerName": "*", "mode": "Off"}], "all of its containers are Off"),
        ([{"containerName": "a", "maxAllowed": {"cpu": "1"}}], "containers differ"),
    ],
)
def test_what_cannot_be_said_as_narrowly_changes_nothing(rules: list[Any], why: str) -> None:
    found = one(resourcePolicy={"containerPolicies": rules})
    assert found.policy["spec"]["mode"] == "Off"
    assert any(
        why in each and "mode Off in the place of Evict" in each for each in found.differences
    )


def test_only_some_resources_are_controlled() -> None:
    rule = {"containerName": "*", "controlledResources": ["memory"]}
    found = one(resourcePolicy={"containerPolicies": [rule]})
    assert found.policy["spec"]["resources"] == {"cpu": {"enabled": False}}


def test_what_has_no_counterpart_is_said() -> None:
    found = one(
        recommenders=[{"name": "x"}],
        startupBoost={"cpu": {}},
        updatePolicy={"evictionRequirements": [{}]},
    )
    said = " ".join(found.differences)
    assert all(word in said for word in ("evictionRequirements", "recommender", "startupBoost"))


@pytest.mark.parametrize("nothing", [0, "0", "0m", 0.0, "0Mi"])
def test_a_floor_of_nothing_is_no_floor(nothing: Any) -> None:
    rule = {"containerName": "*", "minAllowed": {"cpu": nothing, "memory": nothing}}
    rule["maxAllowed"] = {"cpu": "2"}
    found = one(resourcePolicy={"containerPolicies": [rule]})
    assert found.policy["spec"]["resources"] == {"cpu": {"max": "2"}}


def test_own_words_of_kills_and_evictions_are_said_to_be_lost() -> None:
    rule = {"containerName": "*", "oomBumpUpRatio": "1.5", "oomMinBumpUp": "50Mi"}
    update = {"evictAfterOOMSeconds": 60}
    said = one(resourcePolicy={"containerPolicies": [rule]}, updatePolicy=update).differences
    words = ("evictAfterOOMSeconds", "oomBumpUpRatio", "oomMinBumpUp")
    assert {f"{word} has no counterpart" for word in words} <= set(said)


def test_who_is_off_already_need_not_be_deleted() -> None:
    assert not any(
        "delete it" in why for why in one(updatePolicy={"updateMode": "Off"}).differences
    )


def test_lists_are_read_whole_and_other_objects_left_aside() -> None:
    item = {key: value for key, value in vpa().items() if key in ("metadata", "spec")}
    typed = {
        "apiVersion": "autoscaling.k8s.io/v1",
        "kind": "VerticalPodAutoscalerList",
        "items": [item],
    }
    mixed = {"apiVersion": "v1", "kind": "List", "items": [vpa(), {"kind": "Pod"}, 7]}
    assert [each.name for each in imported([typed, mixed, {"kind": "ConfigMapList"}])] == [
        "shop/web",
        "shop/web",
    ]


def test_what_no_server_would_take_is_called_a_fault() -> None:
    bounds = {"containerName": "*", "maxAllowed": {"cpu": "abc"}}
    [odd] = imported([vpa(resourcePolicy={"containerPolicies": [bounds]})])
    assert "abc" in odd.fault
    [nameless] = imported([{**vpa(), "metadata": {"namespace": "shop"}}])
    assert nameless.fault == "it has no name"
    assert one().fault == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda each: (
        st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=6), each, max_size=3)
    ),
)


@given(JSON, JSON, JSON)
def test_whatever_is_in_one_there_is_an_answer(target: Any, update: Any, policy: Any) -> None:
    assert len(imported([vpa(targetRef=target, updatePolicy=update, resourcePolicy=policy)])) == 1
