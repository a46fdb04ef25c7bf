from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.neighbours.week_grades import DAY_S, DAYS, LEAST_TIMES, WeekGrades

NOW = 20_000.0 * DAY_S


def test_the_usual_is_the_median_and_the_worst_all_but_one_of_a_hundred() -> None:
    week: WeekGrades[str] = WeekGrades(10)
    for n in range(200):
        week.add(["a"], {"a": 4 if n < 1 else 3 if n < 10 else 1}, now=NOW)
    assert week.usual_and_worst("a") == (1, 3)


def test_before_an_hour_nobody_can_tell() -> None:
    week: WeekGrades[str] = WeekGrades(10)
    for _ in range(LEAST_TIMES - 1):
        week.add(["a"], {}, now=NOW)
    assert week.usual_and_worst("a") is None
    assert week.usual_and_worst("b") is None
    week.add(["a"], {}, now=NOW)
    assert week.usual_and_worst("a") == (0, 0)
    assert week.times("a") == LEAST_TIMES


def test_what_is_older_than_seven_days_is_forgotten() -> None:
    week: WeekGrades[str] = WeekGrades(10)
    for _ in range(100):
        week.add(["a"], {"a": 4}, now=NOW)
    for _ in range(100):
        week.add(["a"], {}, now=NOW + (DAYS - 1) * DAY_S)
    assert week.usual_and_worst("a") == (0, 4)
    week.add(["a"], {}, now=NOW + DAYS * DAY_S)
    assert week.usual_and_worst("a") == (0, 0)
    week.add(["a"], {}, now=NOW + 100 * DAY_S)
    assert week.times("a") == 1


def test_a_clock_that_goes_back_forgets_nothing() -> None:
    week: WeekGrades[str] = WeekGrades(10)
    for _ in range(100):
        week.add(["a"], {"a": 2}, now=NOW)
    week.add(["a"], {"a": 2}, now=NOW - 3 * DAY_S)
    assert week.times("a") == 101


def test_there_is_a_bound_and_who_is_gone_makes_room() -> None:
    week: WeekGrades[str] = WeekGrades(2)
    assert week.add(["a", "b", "c"], {}, now=NOW) == 1
    week.keep(["b"])
    assert len(week) == 1
    assert week.add(["b", "c"], {"c": 3}, now=NOW) == 0
    assert week.times("c") == 1
    assert week.times("b") == 2
    week.forget(["b", "never seen"])
    assert week.times("b") == 0


@given(st.lists(st.integers(0, 4), min_size=LEAST_TIMES, max_size=300))
def test_the_usual_is_no_more_than_the_worst(grades: list[int]) -> None:
    week: WeekGrades[str] = WeekGrades(10)
    for grade in grades:
        week.add(["a"], {"a": grade}, now=NOW)
    found = week.usual_and_worst("a")
    assert found is not None
    assert min(grades) <= found[0] <= found[1] <= max(grades)
    assert found[0] == sorted(grades)[(len(grades) + 1) // 2 - 1]
