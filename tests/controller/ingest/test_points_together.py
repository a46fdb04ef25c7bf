import numpy as np
from nemutator_controller.ingest.points_together import PointsTogether, Reported, parts_of
from nemutator_controller.ingest.usage_points import NamedSeries, NodePoints, points_of

from tests.controller.ingest.reported import NAN, NOW, of_node

ONE = of_node("n1", [(0, -30.0, 15.0, 0.5, NAN), (1, -15.0, 15.0, 1.0, NAN)])
OTHER = of_node("n2", [(3, -15.0, 15.0, 2.0, 7.0)])


def test_points_of_several_nodes_are_arrays_one_after_another() -> None:
    [part] = parts_of([ONE, OTHER])
    assert part.series.tolist() == [0, 1, 4 + 3]
    assert part.from_at.tolist() == [NOW - 30, NOW - 15, NOW - 15]
    assert part.to_at.tolist() == [NOW - 15, NOW, NOW]
    assert part.column("cpu_cores").tolist() == [0.5, 1.0, 2.0]
    assert part.counts.tolist() == [2, 1]


def test_what_a_node_does_not_measure_is_not_known_of_it() -> None:
    [part] = parts_of([ONE, OTHER])
    memory, waiting = part.known("memory_bytes"), part.known("cpu_waiting")
    assert memory is not None
    assert np.array_equal(memory, [NAN, NAN, 7.0], equal_nan=True)
    # The sum of the numbers of its series is odd for both.
    assert waiting is None
    assert np.isnan(part.column("cpu_waiting")).all()


def test_what_is_kept_of_each_nodes_series_is_found_for_all_and_put_back() -> None:
    [part] = parts_of([ONE, OTHER])
    # A fifth series has come meanwhile, of which nothing is told here.
    kept = [np.array([1, 2, 3, 4, 99]), np.array([5, 6, 7, 8])]
    found = part.by_series(kept)
    assert found[part.series].tolist() == [1, 2, 8]
    assert [each.tolist() for each in part.apart(found)] == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert [part.place(number) for number in part.series.tolist()] == [(0, 0), (0, 1), (1, 3)]


def test_a_node_that_has_reported_twice_is_in_two_parts_and_nothing_in_none() -> None:
    empty = NodePoints("n3", points_of(NamedSeries(), []))
    reported = Reported([ONE, OTHER, empty, ONE])
    parts = parts_of(reported)
    assert [[one.node for one in part.reported] for part in parts] == [["n1", "n2"], ["n1"]]
    assert parts_of(reported) is parts
    assert list(reported) == [ONE, OTHER, empty, ONE]
    assert [len(part) for part in parts] == [3, 2]


def test_one_node_alone_is_not_copied() -> None:
    assert PointsTogether([ONE]).column("cpu_cores") is ONE.points.columns["cpu_cores"]
