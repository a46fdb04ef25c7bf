import numpy as np
import pytest
from nemutator_controller.history.hours_of_use import HoursOfUse
from nemutator_controller.ingest.usage_points import UsagePoints

from tests.controller.history.points import history, key, pod, settle

HOUR = 472_222
BEGIN = HOUR * 3600.0


def report(begin: float, minutes: int, **columns: float) -> UsagePoints:
    from_at = np.array([begin + 60 * minute for minute in range(minutes)], dtype=np.float64)
    return UsagePoints(
        series=[pod("a")],
        of=np.zeros(minutes, dtype=np.int32),
        from_at=from_at,
        to_at=np.array([at + 60 for at in from_at.tolist()], dtype=np.float64),
        columns={name: np.full(minutes, value) for name, value in columns.items()},
    )


def test_hours_are_the_same_whether_their_minutes_are_still_kept_or_not() -> None:
    usage = history()
    for hour in range(6):
        told = report(BEGIN + hour * 3600, 30, cpu_cores=0.1 * (hour + 1), throttled=0.2)
        end = BEGIN + (hour + 1) * 3600
        usage.learn("n", told, now=end)
        settle(usage, end)
    hours = HoursOfUse(usage)
    found = hours.cores(key("a"), begin=HOUR - 1, hours=8)
    assert np.isnan(found[0]).all()
    for hour in range(6):
        # Of the second half of each hour nothing is known.
        np.testing.assert_allclose(found[hour + 1, :6], 0.1 * (hour + 1), rtol=2e-3)
        assert np.isnan(found[hour + 1, 6:]).all()
    assert np.isnan(found[7]).all()
    assert hours.throttled(key("a"), hour=HOUR) == pytest.approx(0.2, rel=2e-3)


def test_of_what_is_not_known_there_are_no_hours() -> None:
    hours = HoursOfUse(history())
    assert np.isnan(hours.cores(key("a"), begin=HOUR, hours=2)).all()
    assert hours.throttled(key("a"), hour=HOUR) == 0.0
    usage = history()
    usage.learn("n", report(BEGIN, 30, cpu_cores=0.1), now=BEGIN + 3600)
    assert HoursOfUse(usage).throttled(key("a"), hour=HOUR) == 0.0
