"""What a container used, as a picture needs it: how often how much CPU, and the peaks of memory by day."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from nemutator_common import names

from nemutator_controller.sizing.buckets import CPU
from nemutator_controller.sizing.daily_peaks import DAY_S
from nemutator_controller.sizing.histograms import EPSILON, FAINT
from nemutator_controller.sizing.keys import ContainerKey, is_of
from nemutator_controller.sizing.packed_rows import SavedUsage

MOST = 100
"""Containers of one answer: one that is asked for has a handful."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseHistogram:
    namespace: str
    owner_kind: str
    owner: str
    container: str
    cpu: tuple[tuple[float, float, float], ...]
    """Cores from, cores to, and how much of the time, of all its replicas; older time counts less."""
    memory_peaks: tuple[int, ...]
    """The largest of each day, oldest first, in bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseHistogramList:
    apiVersion: str = names.API_VERSION  # noqa: N815 - Kubernetes spells it so
    kind: str = "UseHistogramList"
    items: tuple[UseHistogram, ...]


def keys_of(
    known: Iterable[ContainerKey], *, namespace: str | None, workload: str, container: str | None
) -> list[ContainerKey]:
    """Of *known*, those of *workload*, which is a name or KIND/NAME: at most `MOST`."""
    found = (
        key
        for key in known
        if is_of(workload, key.owner_kind, key.owner)
        and namespace in (None, key.namespace)
        and container in (None, key.container)
    )
    return [key for _, key in zip(range(MOST), found, strict=False)]


def use_histograms(
    kept: Mapping[ContainerKey, SavedUsage], *, now: float, window_days: int
) -> UseHistogramList:
    return UseHistogramList(
        items=tuple(
            UseHistogram(
                namespace=key.namespace,
                owner_kind=key.owner_kind,
                owner=key.owner,
                container=key.container,
                cpu=_cpu(one),
                memory_peaks=_peaks(one, since=int(now // DAY_S) - window_days),
            )
            for key, one in kept.items()
        )
    )


def _cpu(kept: SavedUsage) -> tuple[tuple[float, float, float], ...]:
    weights = kept.cpu.astype(np.float64)
    total = float(weights.sum())
    # What a percentile takes for empty, too.
    filled = np.flatnonzero((weights > 0) & (weights >= min(EPSILON, FAINT * total)))
    starts, edges = CPU.starts(), CPU.edges()
    return tuple(
        (
            round(float(starts[at]), 6),
            round(float(edges[at]), 6),
            round(float(weights[at]) / total, 6),
        )
        for at in filled.tolist()
    )


def _peaks(kept: SavedUsage, *, since: int) -> tuple[int, ...]:
    days = zip(kept.peaks.days.tolist(), kept.peaks.largest.tolist(), strict=True)
    return tuple(int(largest) for day, largest in sorted(days) if day > since and largest > 0)
