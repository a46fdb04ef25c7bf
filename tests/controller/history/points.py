"""Points of reports, and a history that anything can be told."""

from collections.abc import Sequence

import numpy as np
from nemutator_controller.history.usage_history import UsageHistory
from nemutator_controller.ingest.usage_points import Series, UsagePoints
from nemutator_controller.sizing.keys import ContainerKey

NOW = 1_700_000_040.0
"""A minute begins here."""

KINDS = ("Deployment",)


def key(owner: str) -> ContainerKey:
    return ContainerKey("shop", "Deployment", owner, "app")


def owner_of(node: str, series: Series) -> ContainerKey | None:
    """The first part of a path is the owner; of `nobody` none is known."""
    owner = series.path.split("/")[1]
    return None if owner == "nobody" else key(owner)


def pod(owner: str, name: str = "0") -> Series:
    return Series(f"/{owner}/{name}", name, None, None)


Point = tuple[int, float, float, float, float]
"""The number of its series, from, to, CPU and memory."""


def points(series: Sequence[Series], given: Sequence[Point]) -> UsagePoints:
    of, begin, end, cpu, memory = (list(each) for each in zip(*given, strict=True))
    return UsagePoints(
        series=series,
        of=np.array(of, dtype=np.int32),
        from_at=np.array(begin, dtype=np.float64),
        to_at=np.array(end, dtype=np.float64),
        columns={
            "cpu_cores": np.array(cpu, dtype=np.float64),
            "memory_bytes": np.array(memory, dtype=np.float64),
        },
    )


def quarters(
    begin: float, count: int, *, cpu: float = 1.0, memory: float = 100.0, of: int = 0
) -> list[Point]:
    """So many quarters of a minute from *begin*."""
    return [(of, begin + 15 * n, begin + 15 * n + 15, cpu, memory) for n in range(count)]


def history(*, most: int = 100) -> UsageHistory:
    return UsageHistory(owner_of, most=most)


def settle(usage: UsageHistory, now: float) -> None:
    for _ in usage.settle(now=now):
        pass
