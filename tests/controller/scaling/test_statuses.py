"""A status is written when it differs, and small changes are none."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from nemutator_controller.scaling.objects import FORECAST_SCALERS, ScalerStatus
from nemutator_controller.scaling.records import ScalerState
from nemutator_controller.scaling.statuses import due_status

from tests.controller.scaling.test_documents import STATE
from tests.fakes.scaling import foreseen


def due(
    state: ScalerState | None = STATE, fault: str | None = None, status: Any = None
) -> ScalerStatus | None:
    document = {
        "metadata": {"name": "web", "namespace": "shop", "generation": 3},
        "spec": {},
        "status": {} if status is None else msgspec.to_builtins(status),
    }
    found = msgspec.convert(document, FORECAST_SCALERS.shape)
    return due_status(found, state, fault, 9, now=0.0)


def test_what_is_foreseen_and_in_force_is_written_once() -> None:
    status = due()
    assert status is not None
    assert (status.base, status.wanted, status.minimum, status.opportunistic) == (2, 6, 6, 9)
    assert (status.skill_percent, status.lead_seconds, status.forecast.upper) == (80, 900, "2600m")
    assert [(one.type, one.status, one.reason) for one in status.conditions] == [
        ("Ready", "True", "Sound"),
        ("Raised", "True", "Forecast"),
    ]
    assert due(status=status) is None
    assert due(replace(STATE, forecast=foreseen(2.61)), status=status) is None
    assert due(replace(STATE, forecast=foreseen(2.7)), status=status) is not None


def test_a_fault_takes_the_place_of_what_was_foreseen() -> None:
    status = due(None, "spec.target: missing", status=due())
    assert status is not None
    assert [(one.type, one.reason, one.message) for one in status.conditions] == [
        ("Ready", "Faulty", "spec.target: missing")
    ]
    assert status.base is None
    assert due(None, "spec.target: missing", status=status) is None


def test_what_was_not_looked_at_yet_stays() -> None:
    assert due(None) is None


@pytest.mark.parametrize(
    ("cores", "text"),
    [(None, ""), (0.0, "0m"), (0.004, "4m"), (12.345, "12000m"), (float("inf"), ""), (-1.0, "")],
)
def test_amounts_have_two_digits_that_count(cores: float | None, text: str) -> None:
    status = due(replace(STATE, forecast=foreseen(1.0, now=cores)))
    assert status is not None
    assert status.forecast.now == text
