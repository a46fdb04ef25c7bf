import numpy as np
import pytest
from nemutator_controller.sizing.strategies import seed
from nemutator_controller.sizing.strategies.recorded_use import RecordedUse


def test_the_average_is_requested_and_the_maximum_limited() -> None:
    use = RecordedUse("web", 1800, np.array([[1.0, 3.0, 10.0, 2.0, 0.0, 0.0]]))
    np.testing.assert_allclose(seed.request(use), [np.nan, 2.2, 4.4])
    np.testing.assert_allclose(seed.limit(use), [np.nan, 3.99, 13.3])


def test_the_pod_with_the_largest_average_counts() -> None:
    use = RecordedUse("web", 3600, np.array([[1.0, 1.0], [5.0, 5.0], [np.nan, np.nan]]))
    assert seed.request(use)[1] == pytest.approx(5.5)
