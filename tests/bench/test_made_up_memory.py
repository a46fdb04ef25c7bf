import numpy as np
from nemutator_controller.sizing.outcomes import OOM_DAYS

from tests.bench.made_up_memory import DAYS, MADE_UP, known_at_days, made_up


def test_who_knows_all_but_the_luck_is_passed_as_often_as_others_and_asks_for_less_than_the_largest() -> (
    None
):
    made = made_up(17)[:12]
    known = known_at_days(made)
    assert known is not None
    assert known.missed == OOM_DAYS
    largest = np.mean([one.use.pods.max() / one.use.pods.mean() for one in made])
    assert 1 < known.cost < largest


def test_the_dearer_a_kill_the_more_is_requested_by_those_with_peaks() -> None:
    for one in made_up(18)[:12]:
        cheap, dear = one.known(1.0), one.known(30.0)
        assert cheap.shape == (DAYS * 24,)
        assert (dear > cheap).all() == (one.peaks_a_day > 0.01)


def test_a_seed_gives_the_same_use_again() -> None:
    one, other = made_up(19), made_up(19)
    assert len(one) == MADE_UP
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first.use.pods, second.use.pods)
