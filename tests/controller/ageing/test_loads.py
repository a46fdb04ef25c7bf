from dataclasses import replace

import pytest
from nemutator_controller.ageing.loads import beside, explains, load_figure, load_of
from nemutator_controller.ageing.model import KeptWindow
from nemutator_controller.ageing.trends import SeriesPoint

from tests.fakes.ageing import window_source


def counted(*allocated: int | None) -> list[KeptWindow]:
    """Readings of every ten seconds, in which CPU time goes on by two seconds."""
    return [
        KeptWindow(at=10.0 * place, allocated_objects=count, cpu_seconds=2.0 * place)
        for place, count in enumerate(allocated)
    ]


def test_what_is_allocated_says_most_of_the_load_and_cpu_time_the_rest() -> None:
    source = window_source()
    assert load_figure({source: counted(None, 100)}) == "allocations"
    assert load_figure({source: counted(None, None)}) == "CPU time"
    unknown = [replace(one, cpu_seconds=None) for one in counted(None, None)]
    assert load_figure({source: unknown}) is None
    assert load_of(unknown, None) == []


def test_a_load_is_what_was_counted_between_two_readings() -> None:
    windows = counted(100, None, 300, 300, 800)
    # Between the third and the fourth no collection has ended: both times are one.
    assert load_of(windows, "allocations") == [SeriesPoint(20, 10), SeriesPoint(40, 25)]
    assert load_of(windows, "CPU time") == [SeriesPoint(10.0 * at, 0.2) for at in range(1, 5)]


def test_a_counter_that_falls_is_no_load() -> None:
    assert load_of(counted(500, 100), "allocations") == [SeriesPoint(10, 0)]


def line(*values: float) -> list[SeriesPoint]:
    return [SeriesPoint(10.0 * place, value) for place, value in enumerate(values)]


def test_each_point_has_the_mean_load_of_its_time() -> None:
    load = [SeriesPoint(1, 4), SeriesPoint(9, 6), SeriesPoint(21, 8), SeriesPoint(30, 2)]
    points = line(1, 2, 3, 4)
    # Of one time nothing is known: that point says nothing of the load.
    assert beside(points, load, 10) == ([points[0], *points[2:]], [5, 8, 2])
    for unknown in (beside(points, load[:3], 10), beside(points, load, 0), beside(points, [], 10)):
        assert unknown == (points, None)


WAVES = [1.0, 1.4, 1.1, 1.9, 1.5, 2.4, 1.8, 2.6, 2.1]


def test_memory_that_goes_up_and_down_with_a_rising_load_is_the_loads() -> None:
    memory = [20 + 30 * load for load in WAVES]
    assert explains([(line(*memory), WAVES)])
    assert explains([(line(*memory), WAVES)] * 2)


@pytest.mark.parametrize(
    "load",
    [
        [1.0] * 9,  # it is the same all the time
        [2.0, 1.0] * 4 + [2.0],  # it comes and goes
        list(reversed(WAVES)),  # it falls
        WAVES,  # it rises as well, but not as the memory does
        [float(place) for place in range(1, 10)],  # it rises as time does: who knows
    ],
)
def test_a_steady_rise_is_not_the_loads(load: list[float]) -> None:
    assert not explains([(line(*(20.0 + 5 * place for place in range(9))), load)])


def test_without_the_load_of_one_process_nothing_is_the_loads() -> None:
    memory = line(*(20 + 30 * load for load in WAVES))
    assert not explains([(memory, WAVES), (memory, None)])
