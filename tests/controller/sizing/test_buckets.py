import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.buckets import CPU, MEMORY, Buckets


def test_there_are_as_many_buckets_as_vpa_has() -> None:
    assert CPU.count == MEMORY.count == 176


def test_buckets_start_where_the_formula_says() -> None:
    coarse = Buckets(first=5.0, largest=100.0, ratio=1.5)
    starts = [coarse.start(bucket) for bucket in range(5)]
    assert starts == pytest.approx([0.0, 5.0, 12.5, 23.75, 40.625])
    assert coarse.count == math.ceil(math.log(100 * 0.5 / 5 + 1, 1.5)) + 1 == 7


def test_the_last_bucket_ends_where_it_begins() -> None:
    edges = CPU.edges()
    assert edges[-1] == edges[-2] == CPU.start(175)
    assert edges[0] == 0.01


@pytest.mark.parametrize(("cores", "bucket"), [(0.0, 0), (0.0099, 0), (0.0103, 1), (1e9, 175)])
def test_a_value_lands_in_its_bucket(cores: float, bucket: int) -> None:
    assert CPU.index(np.array([cores])) == [bucket]


@given(st.floats(1e-6, 990.0))
def test_an_answer_is_a_bucket_too_large_at_most(cores: float) -> None:
    bucket = int(CPU.index(np.array([cores]))[0])
    edge = float(CPU.edges()[bucket])
    assert CPU.start(bucket) <= cores * (1 + 1e-9)
    assert cores <= edge * (1 + 1e-9)
    assert edge <= (cores * 1.05 + 0.01) * (1 + 1e-9)
