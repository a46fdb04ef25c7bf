import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.profiler.heap.estimates import LARGEST, estimated

COUNTS = st.integers(0, 1 << 60)


def test_small_objects_stand_for_many() -> None:
    # 64 of 524 288 bytes: each that was recorded stands for 8192.5 objects.
    objects, size = estimated(1000, 64_000, 524_288)
    assert objects == pytest.approx(1000 / (1 - math.exp(-64 / 524_288)), abs=1)
    assert size == pytest.approx(64 * objects, rel=1e-6)


def test_large_objects_stand_for_themselves() -> None:
    assert estimated(7, 7 << 30, 524_288) == (7, 7 << 30)


@pytest.mark.parametrize("rate", [0, 1])
def test_where_each_is_recorded_nothing_is_estimated(rate: int) -> None:
    assert estimated(3, 192, rate) == (3, 192)


@given(COUNTS, COUNTS, st.integers(0, 1 << 40))
def test_no_count_becomes_less_or_too_large(objects: int, size: int, rate: int) -> None:
    found = estimated(objects, size, rate)
    if not objects or not size:
        assert found == (0, 0)
        return
    assert all(0 < one <= LARGEST for one in found)
    assert found[0] >= objects * (1 - 1e-9) - 1
    assert found[1] >= size * (1 - 1e-9) - 1
