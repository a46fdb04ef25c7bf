import numpy as np
import pytest
from nemutator_controller.history.figures import CPU, FIGURES
from nemutator_controller.history.minutes import CELLS, Minutes, MinuteView

THROTTLED = "throttled"


def added(
    minutes: Minutes, cell: int, begin: float, end: float, row: int = 0, **columns: float
) -> None:
    minutes.add(
        np.array([row]),
        np.array([cell]),
        np.array([begin]),
        np.array([end]),
        {name: np.array([value]) for name, value in columns.items()},
    )


def view(minutes: Minutes, minute: int, row: int = 0) -> MinuteView:
    return minutes.view(np.array([row]), np.array([minute]))


def test_use_is_added_and_divided_by_the_part_that_was_reported() -> None:
    minutes = Minutes(FIGURES, rows=1)
    for pod in range(3):
        added(minutes, 5, 10, 25, cpu_cores=1.0 + pod)
    seen = view(minutes, 5 + 7 * CELLS)
    assert seen.seconds[0, 0] == 15
    assert seen.pods[0, 0] == 3
    assert seen.mean[CPU.name][0, 0] == 6.0
    assert seen.most[CPU.name][0, 0] == pytest.approx(3.0, rel=0.001)


def test_a_share_is_not_added_over_pods() -> None:
    minutes = Minutes(FIGURES, rows=1)
    for share in (0.2, 0.4):
        added(minutes, 5, 0, 60, throttled=share)
    assert view(minutes, 5).mean[THROTTLED][0, 0] == pytest.approx(0.3)


def test_a_figure_takes_memory_when_it_is_first_known() -> None:
    minutes = Minutes(FIGURES, rows=1)
    added(minutes, 5, 0, 15, cpu_cores=1.0, throttled=float("nan"))
    assert list(minutes.by_figure) == [CPU.name]
    assert THROTTLED not in view(minutes, 5).mean


def test_nothing_that_was_used_is_not_nothing_known() -> None:
    minutes = Minutes(FIGURES, rows=2)
    added(minutes, 5, 0, 15, cpu_cores=0.0)
    added(minutes, 5, 0, 15, row=1)
    assert view(minutes, 5).mean[CPU.name][0, 0] == 0.0
    assert np.isnan(view(minutes, 5, row=1).mean[CPU.name][0, 0])
    assert np.isnan(view(minutes, 6).mean[CPU.name][0, 0])


def test_columns_and_rows_can_be_cleared() -> None:
    minutes = Minutes(FIGURES, rows=2)
    for row in range(2):
        for cell in (5, 6):
            added(minutes, cell, 0, 60, row=row, cpu_cores=1.0)
    minutes.clear(np.array([5]), used=2)
    minutes.clear_row(1)
    assert view(minutes, 5).seconds[0, 0] == 0
    assert view(minutes, 6).seconds[0, 0] == 60
    assert view(minutes, 6, row=1).seconds[0, 0] == 0


def test_weekly_figures_can_be_asked_for_alone() -> None:
    minutes = Minutes(FIGURES, rows=1)
    added(minutes, 5, 0, 15, cpu_cores=1.0, throttled=0.5)
    assert list(minutes.view(slice(0, 1), np.array([5]), weekly=True).mean) == [CPU.name]


def test_a_minute_is_one_piece_of_memory() -> None:
    """It begins with all its rows cleared, which else are in as many places."""
    minutes = Minutes(FIGURES, rows=10)
    minutes.figure("cpu_cores")
    assert all(matrix[:, 3].flags.c_contiguous for matrix in minutes.matrices())
