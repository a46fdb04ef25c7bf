import random

from nemutator_controller.ageing.hot_spots import FunctionWindow, grown
from nemutator_controller.ageing.trends import DAY_S

NOW = 4 * DAY_S


def windows(before: float, after: float, *, step_s: float = 3600) -> list[FunctionWindow]:
    dice = random.Random(1)
    found = []
    for at in range(0, int(NOW), int(step_s)):
        share = before if at < NOW - DAY_S else after
        hits = sum(dice.random() < share for _ in range(300))
        found.append(FunctionWindow(float(at), 300, {"parse": hits, "rest": 300 - hits}))
    return found


def test_a_function_that_takes_more_than_in_its_first_days_is_named() -> None:
    (found,) = grown(windows(0.1, 0.2), now=NOW)
    assert found.function == "parse"
    assert 0.08 < found.before < 0.12
    assert 0.18 < found.after < 0.22
    assert found.p < 0.001


def test_what_stays_or_grows_by_little_is_not() -> None:
    assert grown(windows(0.1, 0.1), now=NOW) == []
    assert grown(windows(0.1, 0.11), now=NOW) == []


def test_few_windows_say_nothing() -> None:
    assert grown([], now=NOW) == []
    assert grown(windows(0.1, 0.5)[-10:], now=NOW) == []
    assert grown([FunctionWindow(1.0, 0, {})], now=NOW) == []
