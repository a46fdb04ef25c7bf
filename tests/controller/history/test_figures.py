from nemutator_common.wire import Summary
from nemutator_controller.history.figures import CPU, FIGURES, MEMORY


def test_each_figure_is_one_that_reports_may_have() -> None:
    fields = set(Summary.__dataclass_fields__)
    assert {one.name for one in FIGURES} <= fields


def test_a_usual_week_is_kept_of_what_sizes_and_seasons_are_made_of() -> None:
    assert [one for one in FIGURES if one.weekly is not None] == [CPU, MEMORY]
