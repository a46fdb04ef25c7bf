from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.inventory.documents import (
    Used,
    WorkloadItem,
    workload_item,
    workload_item_totals,
    workload_totals,
)
from nemutator_controller.inventory.fleet.published import (
    NODES,
    STALE_S,
    SUMMARY,
    WORKLOADS,
    ClusterSummary,
    PublishedDocument,
    UnreadablePublicationError,
    cluster_item,
    cluster_list,
    documents_of,
    packed,
    unpacked,
)
from nemutator_controller.inventory.node_documents import NodeItem, node_item

from tests.fakes.inventory import NOW, shop


def published() -> dict[str, bytes]:
    figures = shop()
    several = figures.workloads.values()
    nodes = [node_item(each, None) for each in figures.nodes.values()]
    return documents_of(nodes, [workload_item(each) for each in several], workload_totals(several))


def test_what_is_published_is_read_as_it_was() -> None:
    figures, documents = shop(), published()
    assert unpacked(documents[NODES], list[NodeItem]) == [
        node_item(each, None) for each in figures.nodes.values()
    ]
    items = unpacked(documents[WORKLOADS], list[WorkloadItem])
    assert items == [workload_item(each) for each in figures.workloads.values()]
    summary = unpacked(documents[SUMMARY], ClusterSummary)
    assert summary.nodes.nodes == len(figures.nodes)
    assert summary.workloads == workload_totals(figures.workloads.values())


def test_the_sums_of_items_are_those_of_figures() -> None:
    several = shop().workloads.values()
    assert workload_item_totals(map(workload_item, several)) == workload_totals(several)


def test_totals_are_over_all_clusters() -> None:
    found = PublishedDocument(NOW - 10, published()[SUMMARY])
    one = cluster_list([cluster_item("a", found, here=True, now=NOW)], now=NOW).totals
    both = cluster_list(
        [
            cluster_item("a", found, here=True, now=NOW),
            cluster_item(
                "b", PublishedDocument(NOW - STALE_S - 1, found.packed), here=False, now=NOW
            ),
            cluster_item("c", PublishedDocument(NOW, b"another version's"), here=False, now=NOW),
        ],
        now=NOW,
    )
    assert [each.stale for each in both.items] == [False, True, False]
    assert both.items[2].summary is None
    totals = both.totals
    assert (totals.clusters, totals.stale) == (3, 1)
    assert totals.nodes.nodes == 2 * one.nodes.nodes
    assert totals.nodes.allocatable.cpu_cores == 2 * (one.nodes.allocatable.cpu_cores or 0)
    assert totals.workloads.sums.pods.count == 2 * one.workloads.sums.pods.count
    assert totals.workloads.waste.memory_bytes == (
        None if one.workloads.waste.memory_bytes is None else 2 * one.workloads.waste.memory_bytes
    )


def test_totals_of_one_cluster_are_its_own() -> None:
    summary = unpacked(published()[SUMMARY], ClusterSummary)
    summary = replace(
        summary, nodes=replace(summary.nodes, waste=Used(cpu_cores=1.5, memory_bytes=1 << 30))
    )
    found = PublishedDocument(NOW, packed(summary))
    totals = cluster_list([cluster_item("a", found, here=True, now=NOW)], now=NOW).totals
    assert totals.nodes == summary.nodes
    assert totals.workloads == summary.workloads


@pytest.mark.parametrize(
    ("ago_s", "stale"), [(0, False), (-60, False), (STALE_S + 1, True), (-86_400, True)]
)
def test_a_cluster_whose_clock_is_a_day_ahead_does_not_count_as_alive(
    ago_s: float, stale: bool
) -> None:
    found = PublishedDocument(NOW - ago_s, published()[SUMMARY])
    assert cluster_item("a", found, here=False, now=NOW).stale is stale


def test_no_cluster_has_nothing_and_knows_no_use() -> None:
    totals = cluster_list([], now=NOW).totals
    assert totals.nodes.nodes == totals.workloads.workloads == 0
    assert totals.nodes.used.cpu_cores is None
    assert totals.workloads.sums.throttled is None


@given(st.binary(max_size=200))
def test_bytes_of_others_are_refused(content: bytes) -> None:
    with pytest.raises(UnreadablePublicationError):
        unpacked(content, ClusterSummary)
    with pytest.raises(UnreadablePublicationError):
        unpacked(packed(content.hex()), ClusterSummary)


def test_what_is_cut_off_is_refused() -> None:
    content = published()[WORKLOADS]
    with pytest.raises(UnreadablePublicationError, match="cut off"):
        unpacked(content[:-8], list[WorkloadItem])


def test_fields_of_a_newer_version_are_left_out() -> None:
    summary = msgspec.to_builtins(unpacked(published()[SUMMARY], ClusterSummary))
    assert unpacked(packed(summary | {"later": 1}), ClusterSummary).nodes.nodes == 2
