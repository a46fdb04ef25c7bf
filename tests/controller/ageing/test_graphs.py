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


def test_each_measure_has_its_own_graph() -> None:
    windows = [
        replace(one, goroutines=10 + place, threads=20 + place, open_files=30 + place)
        for place, one in enumerate(kept_windows(3))
    ]
    history = {window_source(): windows}
    shown = {
        measure: [point.value for point in graph_points(measure, history)]
        for measure in ("goroutines", "threads", "open files")
    }
    assert shown == {
        "goroutines": [10, 11, 12],
        "threads": [20, 21, 22],
        "open files": [30, 31, 32],
    }


def test_of_cpu_time_it_shows_the_share_of_the_function() -> None:
    cpu = [
        replace(one, samples=200, functions={"hot": 20 * place})
        for place, one in enumerate(kept_windows(3))
    ]
    history = {window_source(): [*cpu, *kept_windows(1)]}
    assert [point.value for point in graph_points("cpu", history, "hot")] == [0, 10, 20]
    assert graph_points("cpu", history) == ()


def test_a_measure_without_readings_shows_the_heap() -> None:
    windows = [replace(one, rss_bytes=None) for one in kept_windows(3)]
    assert len(graph_points("memory", {window_source(): windows})) == 3
