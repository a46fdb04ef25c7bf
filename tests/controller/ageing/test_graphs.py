from dataclasses import replace

from nemutator_controller.ageing.graphs import MOST_POINTS, graph_points, thinned

from tests.fakes.ageing import kept_windows, window_source


def test_a_graph_shows_what_was_read_for_longest_in_as_many_points_as_it_is_wide() -> None:
    ended, running = window_source(1), window_source(2, started_at=300)
    windows = {ended: kept_windows(3), running: kept_windows(500, grows_by=1)}
    points = graph_points("heap", windows)
    assert 100 <= len(points) <= MOST_POINTS + 1
    assert points[0].value < points[-1].value


def test_what_is_not_known_is_left_out() -> None:
    assert graph_points("heap", {}) == ()
    assert [point.at for point in thinned([(1.0, 5), (2.0, None), (3.0, 7)])] == [1.0, 3.0]


def test_a_measure_without_readings_shows_the_heap() -> None:
    windows = [replace(one, rss_bytes=None) for one in kept_windows(3)]
    assert len(graph_points("memory", {window_source(): windows})) == 3
