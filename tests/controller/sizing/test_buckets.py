import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.sizing.buckets import CPU, MEMORY, VPA_CPU, Buckets, moved


def test_there_are_as_many_buckets_as_vpa_has() -> None:
    assert VPA_CPU.count == MEMORY.count == 176


def test_buckets_start_where_the_formula_says() -> None:
    coarse = Buckets(first=5.0, largest=100.0, ratio=1.5)
    starts = [coarse.start(bucket) for bucket in range(5)]
    assert starts == pytest.approx([0.0, 5.0, 12.5, 23.75, 40.625])
    assert coarse.count == math.ceil(math.log(100 * 0.5 / 5 + 1, 1.5)) + 1 == 7


def test_below_a_tenth_of_a_core_each_thousandth_is_a_bucket() -> None:
    assert [round(CPU.start(bucket), 6) for bucket in (0, 1, 10, 99, 100)] == [
        0.0,
        0.001,
        0.01,
        0.099,
        0.1,
    ]
    assert CPU.edges()[10] == pytest.approx(0.011)


@pytest.mark.parametrize("buckets", [CPU, VPA_CPU], ids=["ours", "vpa"])
def test_the_last_bucket_ends_where_it_begins(buckets: Buckets) -> None:
    edges, last = buckets.edges(), buckets.count - 1
    assert edges[-1] == edges[-2] == buckets.start(last)
    assert list(edges[:-1]) == list(buckets.starts()[1:])


def test_edges_are_worked_out_once_and_nobody_can_change_them() -> None:
    assert VPA_CPU.edges() is VPA_CPU.edges()
    with pytest.raises(ValueError, match="read-only"):
        VPA_CPU.edges()[0] = 1.0


@pytest.mark.parametrize(("cores", "bucket"), [(0.0, 0), (0.0099, 0), (0.0103, 1), (1e9, 175)])
def test_a_value_lands_in_its_bucket(cores: float, bucket: int) -> None:
    assert VPA_CPU.index(np.array([cores])) == [bucket]


@given(st.floats(0, 990.0))
def test_an_answer_is_a_bucket_too_large_at_most(cores: float) -> None:
    bucket = int(CPU.index(np.array([cores]))[0])
    edge = float(CPU.edges()[bucket])
    assert CPU.start(bucket) <= cores * (1 + 1e-9)
    assert cores <= edge * (1 + 1e-9)
    assert edge <= max(cores * 1.05 + 1e-9, cores + 0.001 + 1e-9)


@given(st.lists(st.tuples(st.integers(0, 175), st.floats(0, 1e6, width=32)), max_size=20))
def test_no_weight_is_lost_or_made_when_buckets_change(filled: list[tuple[int, float]]) -> None:
    weights = np.zeros(VPA_CPU.count, dtype=np.float32)
    for bucket, weight in filled:
        weights[bucket] = weight
    ours = moved(weights, VPA_CPU, CPU)
    assert ours.sum() == pytest.approx(weights.sum(), rel=1e-4, abs=1e-4)
    back = moved(ours, CPU, VPA_CPU)
    assert back.sum() == pytest.approx(weights.sum(), rel=1e-4, abs=1e-4)
