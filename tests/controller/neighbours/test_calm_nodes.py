import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_controller.neighbours.calm_nodes import calm_findings
from nemutator_controller.neighbours.co_movement import LEAST_MINUTES
from nemutator_controller.neighbours.links import LEAST_TRAFFIC, assess
from nemutator_controller.neighbours.node_window import (
    FIGURES,
    MINUTES,
    Codes,
    NodeWindow,
    decoded,
    least_code,
)
from nemutator_controller.neighbours.resources import SCALES, Contended

_, NOTHING = NodeWindow().copied(now=0.0)
BOUNDS = {
    FIGURES.index("network"): LEAST_TRAFFIC,
    FIGURES.index("cpu_waiting"): SCALES[Contended.CPU].suffering[0],
    FIGURES.index("turn_waiting"): SCALES[Contended.TURNS].suffering[0],
    FIGURES.index("memory_waiting"): SCALES[Contended.MEMORY].suffering[0],
    FIGURES.index("disk_waiting"): SCALES[Contended.DISK].suffering[0],
}
"""From which on somebody may suffer."""


def codes_of(rows: int, minutes: int) -> list[np.ndarray[tuple[int, int], np.dtype[np.uint16]]]:
    return [np.zeros((rows, minutes), dtype=one.dtype) for one in NOTHING]


@st.composite
def several_codes(draw: st.DrawFn) -> Codes:
    """Mostly below the bounds, so that both kinds of nodes come."""
    rows, minutes = draw(st.integers(1, 4)), draw(st.sampled_from([1, LEAST_MINUTES, MINUTES - 1]))
    dice = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    known, busy = draw(st.sampled_from([0.0, 0.5, 1.0])), draw(st.sampled_from([0.0, 0.05, 0.2]))
    found = codes_of(rows, minutes)
    for figure, codes in enumerate(found):
        if draw(st.booleans()):
            least = least_code(figure, BOUNDS.get(figure, 1.0))
            below = dice.integers(1, least, codes.shape)
            codes[...] = np.where(dice.random(codes.shape) < busy, least, below)
            codes[dice.random(codes.shape) >= known] = 0
    return found


@given(several_codes())
def test_of_a_calm_node_the_same_is_found_as_by_looking_closely(codes: Codes) -> None:
    found = calm_findings(codes)
    if found is not None:
        assert found == assess(decoded(codes))


@pytest.mark.parametrize("figure", sorted(BOUNDS))
def test_where_somebody_may_suffer_the_node_is_looked_at_closely(figure: int) -> None:
    codes = codes_of(3, MINUTES - 1)
    assert calm_findings(codes) is not None
    codes[figure][1] = least_code(figure, BOUNDS[figure]) - 1
    assert calm_findings(codes) is not None
    codes[figure][1] += 1
    assert calm_findings(codes) is None


def test_a_wait_that_comes_too_seldom_leaves_a_node_calm() -> None:
    codes = codes_of(3, MINUTES - 1)
    figure = FIGURES.index("disk_waiting")
    codes[figure][:] = 1
    codes[figure][2, :5] = 255
    found = calm_findings(codes)
    assert found == assess(decoded(codes))


def test_a_node_without_containers_is_calm() -> None:
    found = calm_findings(codes_of(0, MINUTES - 1))
    assert found is not None
    assert not found.links
    assert not found.victims
