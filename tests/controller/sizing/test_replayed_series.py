import numpy as np
from nemutator_controller.sizing.replayed_series import MOST_HOURS, replayed_series
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse


def use(name: str, hours: int, cores: float) -> RecordedUse:
    pods = np.full((1, hours * 2), cores)
    pods[0, 0] = np.nan
    pods[0, 1] = 2 * cores
    return RecordedUse(name, 1800, pods)


def test_the_busiest_containers_come_with_a_line_for_each_strategy() -> None:
    found = replayed_series(
        ["seed", "krr"], "cpu", [use("a", 48, 1.0), use("b", 48, 3.0), use("c", 1, 99.0)], most=1
    )
    assert [one.name for one in found] == ["b"]
    [one] = found
    assert (one.hours, one.used[:2]) == (48, (6.0, 3.0))
    assert set(one.requested) == {"seed", "krr"}
    # Nobody can say anything before the first hour.
    assert one.requested["seed"][0] is None


def test_a_long_line_is_put_together_and_keeps_its_peaks() -> None:
    [one] = replayed_series([], "cpu", [use("a", 3 * MOST_HOURS, 1.0)], most=1)
    assert len(one.used) == MOST_HOURS
    assert one.used[0] == 2.0
