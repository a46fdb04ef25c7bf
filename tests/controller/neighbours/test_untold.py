from nemutator_controller.neighbours.co_movement import LEAST_MINUTES
from nemutator_controller.neighbours.untold import untold_aggressors, untold_victims

MANY, FEW = LEAST_MINUTES, LEAST_MINUTES - 1


def test_each_row_has_its_own_reason() -> None:
    seen, waits, no_waits, known = untold_victims([MANY, FEW, 0, MANY], [FEW, MANY, MANY, MANY], 59)
    assert seen.startswith(f"it was seen in {FEW} minutes")
    assert waits.startswith(f"its waits are known of {FEW} minutes of the last 59")
    assert "no pressure (PSI)" in no_waits
    assert known == ""


def test_others_suffer_from_it_only_where_somebody_tells_how_long_it_waits() -> None:
    seen, known = untold_aggressors([MANY, 0], [FEW, MANY])
    assert seen.startswith(f"it was seen in {FEW} minutes")
    assert known == ""
    assert (
        untold_aggressors([FEW, 0], [MANY, MANY])
        == ["nothing on its node tells how long it waits"] * 2
    )
    assert untold_aggressors([], []) == []
