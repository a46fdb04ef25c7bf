import pytest
from nemutator_controller.evictions.plans import (
    ASKED_ALREADY,
    COMES_BACK,
    UNOWNED,
    EvictionPlan,
    PodSelection,
    plan,
)
from nemutator_controller.evictions.records import EvictablePod, OwningWorkload
from nemutator_controller.kube.label_selectors import SelectorError


def pod(
    name: str,
    workload: str | None = "web",
    *,
    kind: str = "Deployment",
    node: str = "n1",
    space: str = "shop",
) -> EvictablePod:
    owner = None if workload is None else OwningWorkload(space, kind, workload)
    return EvictablePod(space, name, f"u-{name}", node, owner, True, {"app": workload or name})


PODS = (
    pod("web-1"),
    pod("web-2", node="n2"),
    pod("cart-1", "cart"),
    pod("log-1", "log", kind="DaemonSet", space="infra"),
    pod("alone", None),
)


def chosen(planned: EvictionPlan) -> list[str]:
    return [each.name for each in planned.chosen]


def whys(planned: EvictionPlan) -> dict[str, str]:
    return {each.pod.name: each.why_not for each in planned.evictions if each.why_not}


def test_pods_are_chosen_by_name_selector_node_and_namespace() -> None:
    named = plan(PodSelection(pods=(("shop", "web-2"), ("shop", "no"))), PODS)
    assert (chosen(named), named.missing) == (["web-2"], ("shop/no",))
    assert chosen(plan(PodSelection(selector="app in (web)"), PODS)) == ["web-1", "web-2"]
    assert chosen(plan(PodSelection(node="n2"), PODS)) == ["web-2"]
    assert chosen(plan(PodSelection(namespace="infra"), PODS)) == ["log-1"]
    with pytest.raises(SelectorError):
        plan(PodSelection(selector="=x"), PODS)


def test_what_nobody_would_make_anew_is_never_evicted() -> None:
    assert whys(plan(PodSelection(pods=(("shop", "alone"),)), PODS)) == {"alone": UNOWNED}


def test_a_node_is_emptied_of_all_but_what_comes_back() -> None:
    planned = plan(PodSelection(node="n1"), PODS)
    assert chosen(planned) == ["cart-1", "web-1"]
    assert whys(planned) == {"log-1": COMES_BACK, "alone": UNOWNED}
    assert chosen(plan(PodSelection(pods=(("infra", "log-1"),)), PODS)) == ["log-1"]


def test_a_pod_is_in_the_queue_once() -> None:
    planned = plan(PodSelection(namespace="shop"), PODS, asked_already={"u-web-1"})
    assert chosen(planned) == ["cart-1", "web-2"]
    assert whys(planned)["web-1"] == ASKED_ALREADY


@pytest.mark.parametrize(
    ("wanted", "takes_all"),
    [
        (PodSelection(), True),
        (PodSelection(selector="!no-such"), True),
        (PodSelection(selector="app!=web"), False),
        (PodSelection(namespace="shop"), False),
        (PodSelection(pods=tuple(("shop", each.name) for each in PODS)), False),
    ],
)
def test_every_pod_is_every_pod_however_it_is_written(
    wanted: PodSelection, takes_all: bool
) -> None:
    assert plan(wanted, PODS).takes_all is takes_all


def test_every_pod_is_every_pod_also_when_some_are_in_the_queue_already() -> None:
    wanted, first = PodSelection(selector="!no-such"), {"u-web-1"}
    assert plan(wanted, PODS, asked_already=first).takes_all
    assert not plan(PodSelection(namespace="shop"), PODS, asked_already=first).takes_all
    everybody = {each.uid for each in PODS}
    assert not plan(wanted, PODS, asked_already=everybody).takes_all


def test_one_workload_in_a_small_cluster_is_not_everything() -> None:
    assert not plan(PodSelection(selector="app=web"), PODS[:2]).takes_all


def test_a_plan_has_another_id_once_pods_have_come_or_gone() -> None:
    wanted = PodSelection(selector="app=web")
    assert plan(wanted, PODS).id == plan(wanted, PODS[::-1]).id
    assert plan(wanted, PODS).id != plan(wanted, PODS[1:]).id


def test_a_selection_is_shown_in_words() -> None:
    assert str(PodSelection(selector="app=web", node="n1")) == "selector app=web, node n1"
    assert str(PodSelection(pods=tuple(("a", str(n)) for n in range(5)))) == (
        "a/0, a/1, a/2 and 2 more"
    )
    assert str(PodSelection()) == "all pods"
