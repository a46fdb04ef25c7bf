"""Metrics as code that counts sees them; tests/contract/serving has the suite of both meters."""

import pytest
from nemutator_common import names
from nemutator_common.meters import Meter

from tests.fakes.meters import MemoryMeter


def test_the_meter_of_the_tests_is_one() -> None:
    meter: Meter = MemoryMeter()
    meter.count(names.TLS_RELOADS, listener="console", result="reloaded")


def test_an_undeclared_label_is_an_error_at_once() -> None:
    meter: Meter = MemoryMeter()
    with pytest.raises(ValueError, match="listener"):
        meter.count(names.TLS_RELOADS, result="reloaded")
