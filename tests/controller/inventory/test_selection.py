from dataclasses import replace

import pytest
from nemutator_controller.cluster.node_list import listed
from nemutator_controller.cluster.nodes import ReportedNode, Waiting
from nemutator_controller.inventory.documents import workload_item
from nemutator_controller.inventory.model import ProgramUse
from nemutator_controller.inventory.node_documents import node_item
from nemutator_controller.inventory.selection import (
    NODE_FIELDS,
    NODE_ORDERS,
    WORKLOAD_FIELDS,
    WORKLOAD_ORDERS,
    Wanted,
    node_position,
    workload_item_position,
    workload_position,
)
from nemutator_controller.kube.label_selectors import parse_selector

from tests.fakes.batches import NOW, busy_report
from tests.fakes.inventory import shop


def workloads(wanted: Wanted) -> list[str]:
    return [each.key[2] for each in shop().workloads.values() if wanted.has_workload(each)]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ("kind=Deployment", ["empty", "web"]),
        ("kind=Deployment,pods>0", ["web"]),
        ("pending>0", ["db-1"]),
        ("ready=false", ["web", "db-1"]),
        ("oom>0,restarts>1,autoscaled=true,budgeted=true", ["web"]),
        ("name in (web,empty),namespace!=shop", []),
    ],
)
def test_workloads_are_chosen_by_fields(fields: str, found: list[str]) -> None:
    assert workloads(Wanted(fields=parse_selector(fields))) == found


def test_workloads_are_chosen_by_namespace_and_labels() -> None:
    assert workloads(Wanted(namespace="elsewhere")) == []
    assert workloads(Wanted(namespace="shop", labels=parse_selector("team=a"))) == ["empty", "web"]
    assert workloads(Wanted(labels=parse_selector("app=db-1"))) == ["db-1"], (
        "of a bare pod, its own"
    )


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ((), ["empty", "web", "db-1"]),
        (("eb",), ["web"]),
        (("shop/", "b"), ["web", "db-1"]),
        (("x",), []),
    ],
)
def test_workloads_are_searched_by_parts_of_their_names(
    search: tuple[str, ...], found: list[str]
) -> None:
    wanted = Wanted(search=search)
    assert sorted(workloads(wanted)) == sorted(found)
    items = [workload_item(each) for each in shop().workloads.values()]
    assert sorted(each.name for each in items if wanted.has_workload_item(each)) == sorted(found)


def test_nodes_are_chosen_by_fields_and_labels() -> None:
    nodes = [node_item(each, None) for each in shop().nodes.values()]

    def chosen(**selectors: str) -> list[str]:
        wanted = Wanted(**{name: parse_selector(text) for name, text in selectors.items()})  # type: ignore[arg-type]
        return [each.name for each in nodes if wanted.has_node(each)]

    assert chosen(fields="ready=true") == ["n1"]
    assert chosen(fields="unschedulable=true,stale=true") == ["n2"]
    assert chosen(labels="zone=a") == ["n1"]


def test_each_order_and_field_is_known() -> None:
    found = shop()
    web = found.workloads["shop", "Deployment", "web"]
    for order in WORKLOAD_ORDERS:
        value, name = workload_position(web, order)
        assert (value > 0) == (order != "name")
        assert name == web.key
    node = node_item(found.nodes["n1"], None)
    assert node_position(node, "requested") == (0.5, ("n1",))
    assert [node_position(node, order)[1] for order in NODE_ORDERS] == [("n1",)] * len(NODE_ORDERS)
    for field in WORKLOAD_FIELDS:
        assert Wanted(fields=parse_selector(field)).has_workload(web), field
    for field in NODE_FIELDS:
        assert Wanted(fields=parse_selector(field)).has_node(node), field


def test_nodes_come_by_what_is_wrong_with_them() -> None:
    figures = shop().nodes["n1"]
    reported = listed(ReportedNode.of("n1", "e", 1, NOW, busy_report()), now=NOW, after_s=60)
    waits = replace(
        reported, sums=replace(reported.sums, waiting=Waiting(cpu=12.0, memory=None, io=40.0))
    )
    of = {
        "silent": replace(node_item(figures, None), ready=True),
        "down": replace(node_item(figures, reported), ready=False),
        "waits": replace(node_item(figures, waits), ready=True),
        "calm": replace(node_item(figures, reported), ready=True),
    }
    found = {name: node_position(item, "trouble")[0] for name, item in of.items()}
    assert sorted(found, key=lambda name: -found[name]) == ["down", "silent", "waits", "calm"]
    assert found["waits"] == 40.0


def test_a_workload_of_several_runtimes_is_found_by_each_of_its_programs() -> None:
    figures = shop().workloads["shop", "Deployment", "empty"]
    programs = tuple(
        ProgramUse(name=name, runtime=runtime, processes=1, cpu_cores=None, memory_bytes=1)
        for name, runtime in (("shop", "go"), ("sh", "shell"), ("x", None))
    )
    mixed = replace(figures, programs=programs)
    for selector, found in (
        ("runtime=go", True),
        ("runtime=shell,team=a", True),
        ("runtime=java", False),
        ("runtime=go,team=b", False),
        ("team=a", True),
    ):
        assert Wanted(labels=parse_selector(selector)).has_workload(mixed) is found, selector
    assert not Wanted(labels=parse_selector("runtime=go")).has_workload(figures)


@pytest.mark.parametrize("order", WORKLOAD_ORDERS)
def test_items_of_another_cluster_are_ordered_as_ours(order: str) -> None:
    for figures in shop().workloads.values():
        item = workload_item(figures)
        (value, name), (ours, our_name) = (
            workload_item_position(item, order),
            workload_position(figures, order),
        )
        assert value == pytest.approx(ours)
        assert name == our_name


@pytest.mark.parametrize(
    "fields",
    [*(f"{field}>0" for field in ("pods", "pending", "restarts", "oom")), "ready=false", "kind=Deployment",
     "autoscaled=true", "budgeted=true", "name in (web,empty)", "namespace!=shop"],
)  # fmt: skip
def test_items_of_another_cluster_are_chosen_as_ours(fields: str) -> None:
    for wanted in (
        Wanted(fields=parse_selector(fields)),
        Wanted(labels=parse_selector("team=a"), fields=parse_selector(fields)),
        Wanted(namespace="shop", fields=parse_selector(fields)),
        Wanted(namespace="elsewhere", fields=parse_selector(fields)),
    ):
        for figures in shop().workloads.values():
            assert wanted.has_workload_item(workload_item(figures)) == wanted.has_workload(figures)
