import numpy as np
import pytest
from nemutator_controller.sizing.margins import MARGINS, memory_margins

DAY_S = 86_400


@pytest.mark.parametrize(
    ("observed_s", "margin"), [(1_500, 4.0), (DAY_S, 1.56), (14 * DAY_S, 1.18), (90 * DAY_S, 1.18)]
)
def test_the_margin_is_what_limits_of_that_age_needed(observed_s: float, margin: float) -> None:
    found = memory_margins(np.array([observed_s, 0.0]), buffer=18.0)
    assert found.tolist() == pytest.approx([margin, 4.0], abs=0.01)


def test_the_more_is_known_the_less_is_added() -> None:
    assert [times for _, times in MARGINS] == sorted(times for _, times in MARGINS)
    assert [least for least, _ in MARGINS] == sorted((least for least, _ in MARGINS), reverse=True)
