"""The snapshots survive the wire, as test_wire.py has it."""

import dataclasses

import msgspec
import pytest
from hypothesis import given
from nemutator_common import admission_snapshots
from nemutator_common.admission_snapshots import (
    AdviceSnapshot,
    ImageQuestions,
    ImageSnapshot,
    TombstoneSnapshot,
)

from tests.common.test_wire import values

SHAPES = [one for one in vars(admission_snapshots).values() if dataclasses.is_dataclass(one)]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
def test_every_shape_is_a_value(shape: type) -> None:
    assert shape.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert "__slots__" in vars(shape)


@given(values(AdviceSnapshot | TombstoneSnapshot | ImageSnapshot | ImageQuestions))
def test_a_snapshot_reads_back_as_it_was_written(snapshot: object) -> None:
    assert msgspec.json.decode(msgspec.json.encode(snapshot), type=type(snapshot)) == snapshot
