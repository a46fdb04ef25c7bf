from bisect import bisect_left

from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.credentials.rotation.schedule import CheckSchedule, FollowedPath

ROLLS = st.floats(0, 1, exclude_max=True)


def run(
    schedule: CheckSchedule, *, until: float, roll: float, slow_s: float = 0.0
) -> list[tuple[float, FollowedPath]]:
    """Each check at its time; one takes *slow_s*."""
    now, done = 0.0, []
    while (check := schedule.next()) is not None:
        now = max(now, check.at)
        if now > until:
            break
        schedule.begun(check.path, now, roll=roll)
        done.append((now, check.path))
        now += slow_s
    return done


def filled(paths: int, *, per_minute: float, interval_s: float, roll: float) -> CheckSchedule:
    schedule = CheckSchedule(per_minute=per_minute, interval_s=interval_s)
    for number in range(paths):
        schedule.add(FollowedPath(f"secret/{number}"), 0.0, roll=roll)
    return schedule


def test_with_nothing_to_check_there_is_no_check() -> None:
    schedule = CheckSchedule(per_minute=60, interval_s=60)
    assert schedule.next() is None
    schedule.add(FollowedPath("secret/a"), 0.0, roll=0)
    schedule.remove(FollowedPath("secret/a"))
    schedule.remove(FollowedPath("secret/a"))
    assert (schedule.next(), len(schedule)) == (None, 0)


def test_one_path_is_checked_about_once_an_interval() -> None:
    done = run(filled(1, per_minute=60, interval_s=60, roll=0.5), until=300, roll=0.5)
    assert [at for at, _ in done] == [60, 120, 180, 240, 300]


@given(
    paths=st.integers(1, 60),
    per_minute=st.floats(1, 600),
    interval_s=st.floats(1, 600),
    roll=ROLLS,
    slow_s=st.floats(0, 2),
)
def test_no_minute_has_more_checks_than_the_budget(
    paths: int, per_minute: float, interval_s: float, roll: float, slow_s: float
) -> None:
    schedule = filled(paths, per_minute=per_minute, interval_s=interval_s, roll=roll)
    times = [at for at, _ in run(schedule, until=600, roll=roll, slow_s=slow_s)]
    for number, begun in enumerate(times):
        # A budget of 1.5 allows for two in some minutes: the first and the one 40 s later.
        assert bisect_left(times, begun + 59.999) - number <= per_minute + 1


@given(
    paths=st.integers(1, 60),
    per_minute=st.floats(1, 600),
    interval_s=st.floats(1, 600),
    rolls=st.tuples(ROLLS, ROLLS),
)
def test_the_age_of_each_path_is_bounded(
    paths: int, per_minute: float, interval_s: float, rolls: tuple[float, float]
) -> None:
    schedule = filled(paths, per_minute=per_minute, interval_s=interval_s, roll=rolls[0])
    oldest = 1.25 * interval_s + paths * 60 / per_minute
    end = 3 * oldest
    read = dict.fromkeys((FollowedPath(f"secret/{number}") for number in range(paths)), 0.0)
    for at, path in run(schedule, until=end, roll=rolls[1]):
        assert at - read[path] <= oldest * 1.000001
        read[path] = at
    assert all(end - at <= oldest * 1.000001 for at in read.values())
