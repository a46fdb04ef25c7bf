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


def counted(*days: tuple[int, int], most: int = 10) -> WeekGrades[str]:
    """Of `a`, a hundred times of that grade on each day."""
    week: WeekGrades[str] = WeekGrades(most)
    for day, grade in days:
        for _ in range(100):
            week.add(["a", "good"], {"a": grade}, now=NOW + day * DAY_S)
    return week


def test_a_week_goes_on_after_it_was_saved_and_read_back() -> None:
    before = counted((0, 4), (3, 1), (5, 1))
    saved = before.bad(most=10)
    assert [key for key, _ in saved] == ["a"]
    after: WeekGrades[str] = WeekGrades(10)
    after.restore(saved, until=before.today, now=NOW + 5 * DAY_S)
    assert after.usual_and_worst("a") == before.usual_and_worst("a") == (1, 4)
    after.add(["a"], {"a": 1}, now=NOW + 7 * DAY_S)
    # What was bad has become older than seven days, also while it was on the disk.
    assert after.usual_and_worst("a") == (1, 1)
    late: WeekGrades[str] = WeekGrades(10)
    late.restore(saved, until=before.today, now=NOW + 7 * DAY_S)
    assert late.usual_and_worst("a") == (1, 1)


def test_what_is_too_old_or_of_days_to_come_is_not_read_back() -> None:
    before = counted((0, 4))
    for now in (NOW + DAYS * DAY_S, NOW - DAY_S):
        after: WeekGrades[str] = WeekGrades(10)
        after.restore(before.bad(most=10), until=before.today, now=now)
        assert len(after) == 0


def test_the_worst_are_saved_and_no_more_than_there_is_room_for() -> None:
    week: WeekGrades[str] = WeekGrades(10)
    for number in range(5):
        for _ in range(number):
            week.add([str(number)], {str(number): 2}, now=NOW)
    assert [key for key, _ in week.bad(most=2)] == ["4", "3"]
    small: WeekGrades[str] = WeekGrades(1)
    small.restore(week.bad(most=5), until=week.today, now=NOW)
    assert (len(small), small.times("4")) == (1, 4)


def test_who_was_read_back_and_is_never_seen_again_makes_room_after_a_week() -> None:
    week: WeekGrades[str] = WeekGrades(1)
    week.restore(counted((0, 4)).bad(most=1), until=int(NOW // DAY_S), now=NOW)
    assert week.add(["b"], {}, now=NOW + (DAYS - 1) * DAY_S) == 1
    assert week.add(["b"], {}, now=NOW + DAYS * DAY_S) == 0


@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.dictionaries(st.sampled_from("abcd"), st.integers(0, 4))),
        max_size=30,
    )
)
def test_those_that_were_bad_this_week_are_found_together(
    looks: list[tuple[int, dict[str, int]]],
) -> None:
    week: WeekGrades[str] = WeekGrades(3)
    looks = sorted(looks, key=lambda look: look[0])
    for day, grades in looks:
        week.add(grades, grades, now=NOW + day * DAY_S)
    bad = {key for key, counts in week.bad(most=10) if counts[:, 1:].any()}
    assert week.bad_of("abcdx") == bad
    assert week.bad_of([]) == set()
