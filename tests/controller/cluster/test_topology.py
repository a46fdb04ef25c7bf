from dataclasses import replace

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common.wire import Report
from nemutator_controller.cluster.nodes import ReportedNode
from nemutator_controller.cluster.topology import Filter, NodeView, Topology, node_view
from nemutator_controller.kube.label_selectors import (
    Operator,
    Requirement,
    Selector,
    parse_selector,
)

from tests.fakes.batches import NOW, busy_report, process, workload

PATHS = ("/", "/system.slice", "/system.slice/a.service", "/user.slice/b")

REPORT = replace(
    busy_report(),
    workloads=tuple(workload(path) for path in PATHS),
    processes=tuple(process(pid, of=path) for pid, path in enumerate(PATHS, 1)),
)


def node(report: Report = REPORT, *, seen_at: float = NOW - 3) -> ReportedNode:
    return ReportedNode.of("n1", "e1", 1, seen_at, report)


def named(*names: str) -> Selector:
    return Selector((Requirement("name", Operator.IN, names),))


def shown(wanted: Filter, seen: ReportedNode | None = None) -> NodeView:
    return node_view(seen or node(), wanted, now=NOW, after_s=15)


def paths(view: NodeView) -> list[object]:
    return [workload.path for workload in view.workloads]


def test_the_document_has_the_agreed_shape() -> None:
    document = msgspec.to_builtins(Topology(now=NOW, nodes=[shown(Filter())]))
    assert list(document) == ["apiVersion", "kind", "now", "nodes", "next", "remaining"], (
        "where a page ends is known when it does"
    )
    assert (document["apiVersion"], document["kind"]) == ("nemutator.io/v1", "Topology")
    view = document["nodes"][0]
    assert list(view) == [
        *("name", "seen_at", "age_s", "stale", "machine", "namespaces"),
        *("workloads", "processes", "missing"),
    ]
    assert (view["age_s"], view["stale"]) == (3.0, False)
    assert view["workloads"][2]["namespace"] == "system.slice"
    assert view["workloads"][2]["labels"]["runtime"] == "go"
    assert view["workloads"][2]["pressures"]["cpu"]["some_10s"] == 1.0


def test_a_namespace_keeps_its_workloads_with_their_processes() -> None:
    document = shown(Filter(namespace="system.slice"))
    assert paths(document) == ["/system.slice", "/system.slice/a.service"]
    assert [p.pid for p in document.processes] == [2, 3]
    assert paths(shown(Filter(namespace="/"))) == ["/"]


@given(st.sampled_from(["/", "system.slice", "user.slice", "none"]))
def test_a_namespace_shows_the_same_as_its_part_of_everything(namespace: str) -> None:
    some, everything = shown(Filter(namespace=namespace)), shown(Filter())
    assert some.namespaces == everything.namespaces
    wanted = [one for one in everything.workloads if one.namespace == namespace]
    assert some.workloads == wanted
    kept = {one.path for one in wanted}
    assert some.processes == [one for one in everything.processes if one.workload in kept]


def test_a_node_is_opened_only_when_its_name_can_match() -> None:
    assert Filter().admits_node("n1")
    assert Filter(selector=parse_selector("kind=unit")).admits_node("n1")
    assert Filter(selector=parse_selector("node=n1,kind=unit")).admits_node("n1")
    for text in ("node=n2", "node!=n1", "node notin (n1)", "!node", "node,node in (n2,n3)"):
        assert not Filter(selector=parse_selector(text)).admits_node("n1"), text
        assert not paths(shown(Filter(selector=parse_selector(text)))), text


@given(st.sets(st.sampled_from(["/", "system.slice", "a.service", "b"])))
def test_a_selector_keeps_exactly_what_it_matches(names: set[str]) -> None:
    document = shown(Filter(selector=named(*names)))
    assert {workload.name for workload in document.workloads} == names
    assert {p.workload for p in document.processes} == set(paths(document))


MIXED = replace(
    REPORT,
    processes=(
        process(1, of="/system.slice/a.service", runtime="go"),
        process(2, of="/system.slice/a.service", runtime="python"),
        process(3, of="/system.slice/a.service", runtime=None),
        process(4, of="/user.slice/b", runtime="go"),
        process(5, of="/user.slice/b", runtime=None),
    ),
)


def test_the_one_go_program_among_others_is_found_by_its_runtime() -> None:
    view = shown(Filter(selector=parse_selector("runtime=go")), node(MIXED))
    assert [p.pid for p in view.processes] == [1, 4, 5]
    assert paths(view) == ["/system.slice/a.service", "/user.slice/b"]


def test_what_has_another_runtime_than_its_group_is_left_out_by_it() -> None:
    view = shown(Filter(selector=parse_selector("runtime!=go")), node(MIXED))
    assert [p.pid for p in view.processes] == [2, 3]
    assert paths(view) == ["/", "/system.slice", "/system.slice/a.service"]


def test_all_namespaces_are_named_whatever_is_asked_for() -> None:
    assert shown(Filter(namespace="nope")).namespaces == ["/", "system.slice", "user.slice"]


def test_a_process_of_an_unlisted_cgroup_is_shown_unless_something_is_asked_for() -> None:
    stray = node(replace(REPORT, processes=(process(9, of="/gone"),)))
    assert len(shown(Filter(), stray).processes) == 1
    assert not shown(Filter(namespace="gone"), stray).processes


def test_a_clock_that_was_set_back_gives_no_negative_age() -> None:
    assert shown(Filter(), node(seen_at=NOW + 60)).age_s == 0


def test_silence_makes_a_node_stale() -> None:
    assert shown(Filter(), node(seen_at=NOW - 16)).stale
