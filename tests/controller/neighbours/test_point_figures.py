import numpy as np
from nemutator_controller.ingest.points_together import parts_of
from nemutator_controller.ingest.usage_points import NodePoints
from nemutator_controller.neighbours.node_window import FIGURES
from nemutator_controller.neighbours.point_figures import GIB, MB, values_of

from tests.controller.neighbours.windows import NOW, container, points

NAN = float("nan")


def figures(**columns: list[float]) -> dict[str, list[float] | None]:
    """By name, point by point; None: nothing is known of it."""
    count = len(next(iter(columns.values())))
    told = points([container("a")], [0] * count, [NOW + 15.0 * n for n in range(count)], columns)
    [part] = parts_of([NodePoints("n", told)])
    found = zip(FIGURES, values_of(part), strict=True)
    return {
        name: None if values is None else np.round(values, 6).tolist() for name, values in found
    }


def test_what_is_not_measured_is_not_known() -> None:
    found = figures(cpu_cores=[1.0], memory_bytes=[2 * GIB], network_sent=[NAN])
    assert found == dict.fromkeys(FIGURES) | {"cpu": [1.0], "memory": [2.0]}


def test_both_ways_are_one_figure_and_one_that_is_known_alone_is_it() -> None:
    found = figures(network_received=[MB, NAN, MB], network_sent=[MB, 3 * MB, NAN])
    assert found["network"] == [2.0, 3.0, 1.0]
    assert figures(disk_read=[4 * MB])["disk"] == [4.0]


def test_who_waits_for_its_own_limit_waits_for_nobody() -> None:
    found = figures(
        cpu_cores=[1.0, 1.0], run_delay=[3.0, 3.0], run_delay_p99=[0.1, 0.1], throttled=[0.0, 0.5]
    )
    assert found["cpu_waiting"] == [0.75, 0.375]
    waiting = found["turn_waiting"]
    assert waiting is not None
    assert np.array_equal(waiting, [0.1, NAN], equal_nan=True)


def test_a_kill_is_the_worst_of_memory() -> None:
    assert figures(memory_waiting=[50.0, 50.0], oom_kills=[0.0, 1.0])["memory_waiting"] == [
        0.5,
        1.0,
    ]
