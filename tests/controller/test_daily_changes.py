import pytest
from nemutator_controller.daily_changes import may_change


@pytest.mark.parametrize(
    ("changed", "lowered", "raised"),
    [(0, True, True), (3, True, True), (4, False, True), (5, False, True), (6, False, False)],
)
def test_after_four_changes_it_may_only_rise_and_after_six_nothing_changes(
    changed: int, lowered: bool, raised: bool
) -> None:
    assert may_change(changed, rises=False) is lowered
    assert may_change(changed, rises=True) is raised
