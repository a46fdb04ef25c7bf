import numpy as np
from nemutator_controller.sizing.margins import memory_margins
from nemutator_controller.sizing.strategies import peaks
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse


def test_the_margin_shrinks_as_more_is_known() -> None:
    wanted = peaks.memory(RecordedUse("web", 3600, np.full((1, 24 * 16), 1e9)))
    assert np.isnan(wanted[0])
    young, old = memory_margins(np.array([3_600.0, 86_400.0]), buffer=18)
    assert (wanted[1], wanted[24]) == (1e9 * young, 1e9 * old)
    assert (np.diff(wanted[1:]) <= 0).all()
    assert wanted[-1] == 1e9 * 1.18


def test_a_peak_is_forgotten_after_two_weeks() -> None:
    use = np.full((1, 24 * 16), 1e9)
    use[0, 0] = 5e9
    wanted = peaks.memory(RecordedUse("web", 3600, use))
    assert wanted[336] >= 5e9 * 1.18
    assert wanted[337] == 1e9 * 1.18
