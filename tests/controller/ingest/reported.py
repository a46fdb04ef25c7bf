"""What several nodes report at one moment, right and wrong."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st
from nemutator_controller.ingest.usage_points import NodePoints, Series, UsagePoints

NOW = 1_760_000_040.0
NAN = float("nan")

Told = tuple[int, float, float, float, float]
"""The number of its series, when it begins and how long it lasts, cores and bytes."""

SERIES = {
    node: [
        Series(f"/{workload}", f"{node}-{workload}", f"{node}-{workload}-c", None)
        for workload in ("web", "db", "job", "nobody")
    ]
    for node in ("n1", "n2", "n3")
}


def of_node(node: str, told: Sequence[Told]) -> NodePoints:
    of, begin, lasts, cores, memory = (list(each) for each in zip(*told, strict=True))
    from_at = NOW + np.array(begin, dtype=np.float64)
    columns = {"cpu_cores": np.array(cores), "memory_bytes": np.array(memory)}
    if not sum(of) % 2:
        # Not every kernel measures it.
        columns["cpu_waiting"] = np.array(cores) * 10
    points = UsagePoints(
        SERIES[node], np.array(of, dtype=np.int32), from_at, from_at + lasts, columns
    )
    return NodePoints(node, points)


def groups() -> st.SearchStrategy[list[list[NodePoints]]]:
    """Reports that come at once, and others after them; a node may be twice among those of a moment."""
    told = st.tuples(
        st.integers(0, 3),
        st.sampled_from([-15.0, -30.0, -45.0, -22.0, 0.0, -3_000.0, 400.0]),
        st.sampled_from([15.0, 15.0, 15.0, 7.0, 0.0, -5.0, 70.0]),
        st.sampled_from([0.25, 0.5, 3.0, NAN, -1.0, 2.0**53]),
        st.sampled_from([0.0, 1e9, 2.5e8, NAN, float("inf")]),
    )
    report = st.builds(
        of_node, st.sampled_from(list(SERIES)), st.lists(told, min_size=1, max_size=8)
    )
    return st.lists(st.lists(report, min_size=1, max_size=5), min_size=1, max_size=3)
