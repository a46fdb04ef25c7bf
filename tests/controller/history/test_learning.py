import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from nemutator_common import names
from nemutator_controller.history.learning import UsageHistoryLearner
from nemutator_controller.ingest.usage_points import NodePoints

from tests.controller.history.points import NOW, history, key, pod, points, quarters
from tests.controller.ingest.reported import NOW as TOLD_AT
from tests.controller.ingest.reported import groups, of_node
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


@given(groups(), st.sampled_from([1, 2, 100]))
def test_what_is_reported_together_is_learned_as_if_each_came_alone(
    several: list[list[NodePoints]], most: int
) -> None:
    meters = MemoryMeter(), MemoryMeter()
    together, alone = history(most=most), history(most=most)
    learners = [
        UsageHistoryLearner(usage, fake_process(meter=meter))
        for usage, meter in zip((together, alone), meters, strict=True)
    ]
    # Before anything is known, nothing is too late.
    for number, reported in enumerate([[of_node("n1", [(0, -15.0, 15.0, 1.0, 1.0)])], *several]):
        # After the hour for which a row is spared another's may take its place.
        now = TOLD_AT + 2_400.0 * number
        learners[0].learn_all(reported, now)
        for one in reported:
            learners[1].learn(one.node, one.points, now)
    assert together.rows.numbers == alone.rows.numbers
    assert together.newest == alone.newest
    assert together.minutes.by_figure.keys() == alone.minutes.by_figure.keys()
    for name, figure in together.minutes.by_figure.items():
        assert np.array_equal(figure.total, alone.minutes.by_figure[name].total)
        assert np.array_equal(figure.most, alone.minutes.by_figure[name].most)
    assert np.array_equal(together.minutes.time, alone.minutes.time)
    assert sorted(meters[0].exposition().split()) == sorted(meters[1].exposition().split())
