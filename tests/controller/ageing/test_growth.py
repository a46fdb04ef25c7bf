import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.ageing.growth import Floor, binned, judge
from nemutator_controller.ageing.trends import DAY_S, SeriesPoint

FLOOR = Floor(provisional=4e6, weekly=16e6)
MB = 1e6


def minutes(levels: list[float]) -> list[SeriesPoint]:
    return [SeriesPoint(place * 60.0, level * MB) for place, level in enumerate(levels)]


def days(count: float, level: object) -> list[SeriesPoint]:
    assert callable(level)
    return [SeriesPoint(at, level(at / DAY_S) * MB) for at in range(0, int(count * DAY_S), 1200)]


def test_what_grows_since_its_start_is_told_within_minutes_and_as_provisional() -> None:
    found = judge([minutes([20 + 5 * place for place in range(8)])], FLOOR)
    assert found.growth == "grows provisionally"
    assert round(found.slope * 60 / MB, 6) == 5
    assert (found.points, found.span_s) == (8, 420)


def test_a_few_readings_are_too_few() -> None:
    assert judge([], FLOOR).growth == "cannot tell"
    few = judge([minutes([20, 30, 40])], FLOOR)
    assert (few.growth, few.reason) == ("cannot tell", "3 of the 6 readings that it takes")


def test_what_is_level_or_grows_by_little_is_steady() -> None:
    assert judge([minutes([20.0] * 30)], FLOOR).growth == "steady"
    assert judge([minutes([200 + 0.1 * place for place in range(30)])], FLOOR).growth == "steady"


def test_a_cache_that_fills_comes_to_its_plateau() -> None:
    filling = [20 + 100 * (1 - math.exp(-place / 5)) for place in range(40)]
    assert judge([minutes(filling)], FLOOR).growth in ("plateau", "steady")
    assert judge([days(7, lambda day: 100 + 200 * (1 - math.exp(-day)))], FLOOR).growth in (
        "plateau",
        "steady",
    )


def test_a_leak_that_came_to_its_end_did_grow() -> None:
    ended = judge([minutes([10 + min(4 * place, 64) for place in range(60)])], FLOOR)
    assert (ended.growth, ended.reason) == (
        "plateau",
        "it grew after its start, and grows ever slower",
    )


def test_what_doubles_in_a_week_is_a_firm_leak_beside_its_season() -> None:
    dice = random.Random(5)

    def level(day: float) -> float:
        wave = 20 * math.sin(day * 2 * math.pi)
        return 100 + 100 * day / 7 + wave + dice.gauss(0, 3)

    found = judge([days(7, level), days(6, level)], FLOOR)
    assert found.growth == "grows"
    assert 95 < found.slope * 7 * DAY_S / MB < 105
    assert found.p < 1e-4


def test_a_season_alone_is_steady() -> None:
    week = days(7, lambda day: 100 + 60 * math.sin(day * 2 * math.pi))
    assert judge([week], FLOOR).growth == "steady"


def climbing_load() -> list[SeriesPoint]:
    """A load that is larger each day, with its own ups and downs."""
    dice = random.Random(8)
    return days(7, lambda day: 1 + 0.2 * int(day) + dice.gauss(0, 0.1))


def test_what_follows_a_load_that_climbs_is_steady_where_the_load_is_known() -> None:
    load = climbing_load()
    memory = [SeriesPoint(at, 50 * MB + 80 * value) for at, value in load]
    assert judge([memory], FLOOR).growth == "grows"
    found = judge([memory], FLOOR, loads=[load])
    assert (found.growth, found.reason) == (
        "steady",
        "it follows its load, and does not surely grow beside that",
    )


def test_what_leaks_beside_its_load_is_a_leak() -> None:
    load = climbing_load()
    memory = [SeriesPoint(at, 50 * MB + 80 * value + 20 * MB * at / DAY_S) for at, value in load]
    assert judge([memory], FLOOR, loads=[load]).growth == "grows"


def test_in_its_first_hours_what_grows_with_its_load_is_steady() -> None:
    load = minutes([place + 3 * (place % 3) for place in range(5, 30)])
    memory = [SeriesPoint(at, 20 * MB + 2 * value) for at, value in load]
    assert judge([memory], FLOOR).growth == "grows provisionally"
    found = judge([memory], FLOOR, loads=[load])
    assert (found.growth, found.reason) == (
        "steady",
        "it grew with its load, and follows that more closely than time",
    )


def test_a_process_of_yesterday_does_not_hide_what_the_old_ones_do() -> None:
    old = days(7, lambda day: 100 + 15 * day)
    young = [SeriesPoint(6.5 * DAY_S + at, 50 * MB) for at in range(0, 3600, 600)]
    assert judge([old, young], FLOOR).growth == "grows"


@settings(max_examples=50)
@given(
    st.lists(st.floats(0, 1e12), min_size=0, max_size=40),
    st.floats(1.0, 1e5),
    st.integers(1, 1000),
)
def test_no_series_is_too_odd_for_a_judgement(levels: list[float], step: float, times: int) -> None:
    points = [SeriesPoint(place * step, level) for place, level in enumerate(levels)]
    larger = [SeriesPoint(at, value * times) for at, value in points]
    tiny = Floor(provisional=0.0, weekly=0.0)
    one, other = judge([points], tiny), judge([larger], tiny)
    assert one.growth in ("grows", "grows provisionally", "steady", "plateau", "cannot tell")
    assert other.points == one.points


def test_a_bin_is_the_mean_of_its_points() -> None:
    assert binned([SeriesPoint(0, 1), SeriesPoint(30, 3), SeriesPoint(70, 5)], 60) == [
        SeriesPoint(15, 2),
        SeriesPoint(70, 5),
    ]
    assert binned([SeriesPoint(0, 1)], 0) == [SeriesPoint(0, 1)]
