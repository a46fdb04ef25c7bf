"""What a cluster publishes of itself, as documents and as bytes, and what all clusters are together."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from nemutator_common import __version__, names

from nemutator_controller.inventory.documents import (
    Network,
    PodCounts,
    Sums,
    WorkloadItem,
    WorkloadTotals,
    known_sum,
    used_sum,
)
from nemutator_controller.inventory.node_documents import NodeItem, NodeTotals, node_totals

T = TypeVar("T")

SUMMARY, NODES, WORKLOADS = "summary", "nodes", "workloads"

STALE_S = 180.0
"""A cluster that has not published for so long has no brain that leads, or none that reaches the database."""

LARGEST = 512 << 20
"""Bytes of one list, unpacked: 5 000 nodes are 5 MB."""


class UnreadablePublicationError(Exception):
    """Another version has published it, or it is damaged."""


@dataclass(frozen=True, slots=True)
class PublishedDocument:
    at: float
    packed: bytes


UNKNOWN = PublishedDocument(0.0, b"")
"""Of a cluster whose tables another version has made: neither when nor what it has published can be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSummary:
    version: str = __version__
    nodes: NodeTotals
    workloads: WorkloadTotals


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterItem:
    name: str
    here: bool
    """Whether it is the cluster of the brain that answers."""
    published_at: float
    stale: bool
    summary: ClusterSummary | None
    """None: another version has published it, and this one cannot read it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterTotals:
    clusters: int
    stale: int
    nodes: NodeTotals
    workloads: WorkloadTotals


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "ClusterList"
    now: float
    totals: ClusterTotals
    """Of those that can be read, stale ones too."""
    items: Sequence[ClusterItem]


def documents_of(
    nodes: Sequence[NodeItem], workloads: Sequence[WorkloadItem], totals: WorkloadTotals
) -> dict[str, bytes]:
    """What is published, by name."""
    return {
        SUMMARY: packed(ClusterSummary(nodes=node_totals(nodes), workloads=totals)),
        NODES: packed(nodes),
        WORKLOADS: packed(workloads),
    }


def packed(document: object) -> bytes:
    return zlib.compress(msgspec.json.encode(document), level=1)


def unpacked(content: bytes, shape: type[T]) -> T:
    """What `packed` made *content* of; raises `UnreadablePublicationError`."""
    try:
        opened = zlib.decompressobj()
        text = opened.decompress(content, LARGEST)
        if not opened.eof:
            raise UnreadablePublicationError("it is larger than what is read, or cut off")
        return msgspec.json.decode(text, type=shape)
    except (zlib.error, msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UnreadablePublicationError(str(error)[:200]) from error


def cluster_item(name: str, found: PublishedDocument, *, here: bool, now: float) -> ClusterItem:
    try:
        summary = unpacked(found.packed, ClusterSummary)
    except UnreadablePublicationError:
        summary = None
    # Of a clock that is far ahead nobody could tell for a day that its cluster has died.
    stale = abs(now - found.at) > STALE_S
    return ClusterItem(name=name, here=here, published_at=found.at, stale=stale, summary=summary)


def cluster_list(items: Sequence[ClusterItem], *, now: float) -> ClusterList:
    known = [each.summary for each in items if each.summary is not None]
    totals = ClusterTotals(
        clusters=len(items),
        stale=sum(each.stale for each in items),
        nodes=_nodes([each.nodes for each in known]),
        workloads=_workloads([each.workloads for each in known]),
    )
    return ClusterList(now=now, totals=totals, items=items)


def _nodes(several: Sequence[NodeTotals]) -> NodeTotals:
    return NodeTotals(
        nodes=sum(each.nodes for each in several),
        ready=sum(each.ready for each in several),
        stale=sum(each.stale for each in several),
        allocatable=used_sum(each.allocatable for each in several),
        requested=used_sum(each.requested for each in several),
        limits=used_sum(each.limits for each in several),
        used=used_sum(each.used for each in several),
        pods=sum(each.pods for each in several),
        waste=used_sum(each.waste for each in several),
    )


def _workloads(several: Sequence[WorkloadTotals]) -> WorkloadTotals:
    sums = [each.sums for each in several]
    pods = [each.pods for each in sums]
    return WorkloadTotals(
        workloads=sum(each.workloads for each in several),
        sums=Sums(
            pods=PodCounts(
                sum(each.count for each in pods),
                sum(each.ready for each in pods),
                sum(each.pending for each in pods),
                sum(each.unscheduled for each in pods),
            ),
            requested=used_sum(each.requested for each in sums),
            limits=used_sum(each.limits for each in sums),
            used=used_sum(each.used for each in sums),
            network=Network(
                known_sum(each.network.received for each in sums),
                known_sum(each.network.sent for each in sums),
            ),
            restarts=sum(each.restarts for each in sums),
            oom_ended=sum(each.oom_ended for each in sums),
            throttled=max(
                (each.throttled for each in sums if each.throttled is not None), default=None
            ),
        ),
        waste=used_sum(each.waste for each in several),
    )
