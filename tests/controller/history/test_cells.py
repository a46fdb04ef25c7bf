import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.history.cells import MEASURES, RowCells, busiest_pod, stepped

one = st.one_of(st.just(float("nan")), st.floats(0, 100))


@given(st.lists(one, min_size=1, max_size=40), st.sampled_from([60, 120, 300]), st.integers(-3, 3))
def test_steps_are_what_a_plain_loop_says(values: list[float], step_s: int, shift: int) -> None:
    at = np.arange(len(values)) * 60 + 6000
    array = np.array(values)
    seconds = np.where(np.isnan(array), 0.0, 60.0)
    cells = RowCells(at, seconds, array, {"cpu": dict.fromkeys(MEASURES, array)})
    begin, steps = 6000 + shift * 60, 7
    found = stepped(cells, begin=begin, step_s=step_s, steps=steps)
    for step in range(steps):
        left = begin + step * step_s
        inside = [v for v, t in zip(values, at, strict=True) if left <= t < left + step_s]
        known = [v for v in inside if not np.isnan(v)]
        got = {name: column[step] for name, column in found.figures["cpu"].items()}
        if not known:
            assert np.isnan(list(got.values())).all()
            assert np.isnan(found.pods[step])
            continue
        assert got["mean"] == pytest.approx(sum(known) / len(known))
        assert (got["low"], got["high"], got["most"]) == (min(known), max(known), max(known))


def test_a_mean_counts_a_cell_by_what_was_reported_of_it() -> None:
    figures = {"cpu": dict.fromkeys(MEASURES, np.array([1.0, 4.0]))}
    cells = RowCells(np.array([0, 300]), np.array([300.0, 60.0]), np.array([1.0, 1.0]), figures)
    found = stepped(cells, begin=0, step_s=600, steps=1)
    assert found.figures["cpu"]["mean"][0] == pytest.approx(1.5)


def test_of_one_pod_its_own_use_counts_and_of_several_the_most_that_one_of_them_used() -> None:
    nan = float("nan")
    kept = {
        # One pod, with a burst in each minute; three pods; nothing known; one pod again.
        "mean": np.array([1.0, 3.0, nan, 2.0]),
        "most": np.array([1.5, 1.8, nan, 2.5]),
    }
    pods = np.array([1.0, 3.0, nan, 1.0])
    cells = RowCells(np.arange(4) * 60, np.full(4, 60.0), pods, {"cpu_cores": kept})
    each = busiest_pod(cells, "cpu_cores", begin=0, step_s=60, steps=4)
    np.testing.assert_array_equal(each, [1.0, 1.8, nan, 2.0])
    both = busiest_pod(cells, "cpu_cores", begin=0, step_s=120, steps=2)
    np.testing.assert_allclose(both, [1.4, 2.0])
    nothing = busiest_pod(cells, "memory_bytes", begin=0, step_s=60, steps=2)
    assert np.isnan(nothing).all()
