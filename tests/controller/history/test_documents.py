import json

import msgspec
import numpy as np
from nemutator_controller.history.cells import MEASURES, RowCells
from nemutator_controller.history.documents import WorkloadHistory, workload_history
from nemutator_controller.history.figures import FIGURES
from nemutator_controller.history.questions import HistoryQuestion
from nemutator_controller.history.weeks import Weeks

from tests.controller.history.points import key

GAP = float("nan")


def made(*cpu: float, weeks: Weeks | None = None) -> WorkloadHistory:
    values = np.array(cpu)
    at = np.arange(len(cpu)) * 60 + 6000
    seconds = np.where(np.isnan(values), 0.0, 60.0)
    figures = {"cpu_cores": dict.fromkeys(MEASURES, values)}
    cells = RowCells(at, seconds, np.where(np.isnan(values), GAP, 2.0), figures)
    week = (weeks or Weeks(FIGURES, 1)).view(0)
    return workload_history(key("a"), cells, week, HistoryQuestion(6000, 60, len(cpu)))


def test_gaps_are_null_and_nothing_else_is() -> None:
    document = json.loads(msgspec.json.encode(made(1.0, GAP, 0.0)))
    assert document["figures"]["cpu_cores"]["mean"] == [1.0, None, 0.0]
    assert document["pods"] == [2.0, None, 2.0]
    assert document["window"]["cpu_cores"] == {"mean": 0.5, "low": 0.0, "high": 1.0, "most": 1.0}
    assert (document["from_at"], document["step_s"], document["steps"]) == (6000, 60, 3)
    assert document["week"] is None


def test_a_figure_of_which_nothing_is_known_is_left_out() -> None:
    assert made(GAP, GAP).figures == {}
    assert made(GAP, GAP).window == {}


def test_the_usual_week_is_a_member_of_its_own() -> None:
    weeks = Weeks(FIGURES, 1)
    weeks.begin(0, used=1)
    weeks.fold(slice(0, 1), 0, {"cpu_cores": np.ones((1, 60))})
    week = made(1.0, weeks=weeks).week
    assert week is not None
    assert [len(one) for one in week.figures["cpu_cores"].values()] == [168] * 5
    assert (week.minutes[72], week.minutes[73]) == (60.0, 0.0)
    assert week.figures["cpu_cores"]["median"][73] is None
