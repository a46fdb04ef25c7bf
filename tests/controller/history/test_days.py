import numpy as np
import pytest
from nemutator_controller.history.days import CELLS, Days, summed
from nemutator_controller.history.figures import CPU, FIGURES
from nemutator_controller.history.minutes import MinuteView

UNKNOWN = float("nan")


def view(*means: float, seconds: float = 60.0, pods: float = 2.0) -> MinuteView:
    mean = np.array([means])
    told = np.where(np.isnan(mean), 0.0, seconds)
    return MinuteView(told, np.full(mean.shape, pods), {CPU.name: mean}, {CPU.name: mean / 2})


def shown(days: Days, cell: int) -> dict[str, float]:
    seen = days.view(np.array([0]), np.array([cell]))
    return {name: float(values[0, 0]) for name, values in seen.figures[CPU.name].items()}


def test_a_cell_has_the_mean_the_extremes_and_the_most_of_one_pod() -> None:
    days = Days(FIGURES, rows=1)
    days.put(slice(0, 1), 7, view(1, 2, UNKNOWN, 4, 5))
    wanted = {"mean": 3.0, "low": 1.0, "high": 5.0, "most": 2.5}
    assert shown(days, 7) == pytest.approx(wanted, rel=0.001)
    assert days.view(np.array([0]), np.array([7])).pods[0, 0] == pytest.approx(2.0, rel=0.001)


def test_a_cell_of_which_nothing_is_known_is_empty_again() -> None:
    days = Days(FIGURES, rows=1)
    days.put(slice(0, 1), 7, view(1, 2))
    days.put(slice(0, 1), 7 + CELLS, view(UNKNOWN, UNKNOWN))
    assert np.isnan(list(shown(days, 7).values())).all()
    days.put(slice(0, 1), 8, view(1))
    days.put(slice(0, 1), 8 + CELLS, MinuteView(np.zeros((1, 1)), np.zeros((1, 1)), {}, {}))
    assert np.isnan(shown(days, 8)["mean"])


def test_a_cell_and_a_row_can_be_cleared() -> None:
    days = Days(FIGURES, rows=2)
    ones = np.ones((2, 1))
    days.put(slice(0, 2), 7, MinuteView(ones, ones, {CPU.name: ones}, {CPU.name: ones}))
    days.clear_row(0)
    seen = days.view(np.array([0, 1]), np.array([7])).figures[CPU.name]["mean"][:, 0]
    assert np.isnan(seen[0])
    assert seen[1] == pytest.approx(1.0)
    days.clear(np.array([7]), used=2)
    assert np.isnan(days.view(np.array([1]), np.array([7])).figures[CPU.name]["mean"][0, 0])


def test_a_mean_counts_each_minute_by_what_was_reported_of_it() -> None:
    found = summed(np.array([[1.0, 3.0]]), np.array([[60.0, 20.0]]), np.array([[1.0, 3.0]]))
    assert found["mean"][0] == pytest.approx(1.5)
