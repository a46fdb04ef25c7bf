"""It rises at once, and falls when less was wanted for the whole window."""

from hypothesis import given, settings
from hypothesis import strategies as st
from nemutator_controller.scaling.stabilising_window import StabilisingWindow


def test_it_rises_at_once_and_falls_late() -> None:
    window = StabilisingWindow(600.0)
    seen = [
        window.see(wanted, now=now)
        for now, wanted in ((0, 2), (15, 6), (30, 2), (614, 3), (615, 3), (1_215, 2))
    ]
    assert seen == [2, 6, 6, 6, 3, 2]


STEPS = st.lists(st.tuples(st.floats(0.1, 50), st.integers(0, 20)), min_size=1, max_size=40)


@settings(max_examples=60)
@given(STEPS)
def test_it_is_the_highest_of_the_window_by_the_definition(steps: list[tuple[float, int]]) -> None:
    window, now = StabilisingWindow(60.0), 0.0
    history: list[tuple[float, int]] = []
    for passed, wanted in steps:
        now += passed
        history.append((now, wanted))
        lately = [value for at, value in history if at > now - 60.0]
        assert window.see(wanted, now=now) == max(lately)
