from nemutator_controller.database.claim import LOST_AFTER_S, Claim
from nemutator_controller.sizing.shared.learning import TURN_S


def test_the_same_holder_in_another_generation_has_another_claim() -> None:
    assert Claim("learner", "a", 1) != Claim("learner", "a", 2)


def test_a_holder_that_died_is_missed_within_fifteen_seconds() -> None:
    assert LOST_AFTER_S + 2 * TURN_S < 15
