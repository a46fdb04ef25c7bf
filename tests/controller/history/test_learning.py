from nemutator_common import names
from nemutator_controller.history.learning import UsageHistoryLearner

from tests.controller.history.points import NOW, history, key, pod, points, quarters
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


def test_what_was_added_and_what_was_not_is_counted() -> None:
    meter, usage = MemoryMeter(), history(most=1)
    learner = UsageHistoryLearner(usage, fake_process(meter=meter))
    series = [pod("a"), pod("nobody"), pod("b")]
    told = [one for of in range(3) for one in quarters(NOW, 4, of=of)]
    learner.learn("n", points(series, told), NOW + 60)
    assert meter.value(names.HISTORY_USE_ADDED) == 4
    assert meter.value(names.HISTORY_USE_DROPPED, reason="unknown_owner") == 4
    assert meter.value(names.HISTORY_USE_DROPPED, reason="no_room") == 4
    later = [pod("b")]
    learner.learn("m", points(later, quarters(NOW + 7200, 4)), NOW + 7260)
    assert meter.value(names.HISTORY_ROWS_DROPPED, reason="count") == 1
    assert usage.known_keys() == [key("b")]
