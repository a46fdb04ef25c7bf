from dataclasses import replace

import numpy as np
import pytest
from nemutator_controller.sizing.samples import FORGOTTEN_S, are_sound

from tests.controller.sizing.test_usages import NOW, summary


@pytest.mark.parametrize(
    ("wrong", "sound"),
    [
        ({}, True),
        ({"to_at": NOW + 301}, False),
        ({"to_at": NOW - FORGOTTEN_S}, False),
        ({"from_at": NOW}, False),
        ({"cpu_cores": -0.1}, False),
        ({"cpu_cores": float("nan")}, False),
        ({"cpu_cores": 1e6}, False),
        ({"memory_bytes": 2**63}, False),
        ({"memory_bytes": -1}, False),
    ],
)
def test_what_makes_no_sense_is_not_sound(wrong: dict[str, float], sound: bool) -> None:
    one = replace(summary(), **wrong)  # type: ignore[arg-type]
    figures = (one.from_at, one.to_at, one.cpu_cores, one.memory_bytes)
    assert are_sound(*np.array(figures, dtype=np.float64).reshape(4, 1), now=NOW).tolist() == [
        sound
    ]
