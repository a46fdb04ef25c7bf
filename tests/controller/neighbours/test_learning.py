import numpy as np
from hypothesis import given
from nemutator_common import names
from nemutator_controller.ingest.usage_points import NodePoints
from nemutator_controller.neighbours.learning import NeighbourLearner

from tests.controller.ingest.reported import NOW as TOLD_AT
from tests.controller.ingest.reported import groups
from tests.controller.neighbours.windows import NOW, container, points
from tests.fakes.meters import MemoryMeter
from tests.fakes.process import fake_process


def test_each_node_has_its_window_and_what_is_left_out_is_counted() -> None:
    meter = MemoryMeter()
    learner = NeighbourLearner(fake_process(meter=meter), most_nodes=2)
    one = points([container("a")], [0], [NOW + 30], {"cpu_cores": [1.0]})
    for node in ("n1", "n2", "n3", "n1"):
        learner.learn(node, one, NOW + 61)
    assert list(learner.windows) == ["n3", "n1"]
    learner.learn("n3", points([container("a")], [0], [NOW - 9_000], {"cpu_cores": [1.0]}), NOW)
    assert meter.value(names.NEIGHBOUR_POINTS_DROPPED, reason="late") == 1


def test_a_node_that_is_silent_for_an_hour_is_forgotten() -> None:
    learner = NeighbourLearner(fake_process(), most_nodes=2)
    one = points([container("a")], [0], [NOW + 30], {"cpu_cores": [1.0]})
    learner.learn("n1", one, NOW + 61)
    learner.forget_ended(list(learner.windows))
    assert list(learner.windows) == ["n1"]
    learner.windows["n1"].copied(now=NOW + 7_200)
    learner.forget_ended(list(learner.windows))
    assert learner.windows == {}


@given(groups())
def test_what_is_reported_together_is_learned_as_if_each_came_alone(
    several: list[list[NodePoints]],
) -> None:
    meters = MemoryMeter(), MemoryMeter()
    together, alone = (NeighbourLearner(fake_process(meter=one), most_nodes=2) for one in meters)
    for number, reported in enumerate(several):
        now = TOLD_AT + 30.0 * number
        together.learn_all(reported, now)
        for one in reported:
            alone.learn(one.node, one.points, now)
    assert list(together.windows) == list(alone.windows)
    for node, window in together.windows.items():
        (keys, codes), (same, as_codes) = (
            one.copied(now=TOLD_AT + 200) for one in (window, alone.windows[node])
        )
        assert keys == same
        assert all(map(np.array_equal, codes, as_codes))
    assert sorted(meters[0].exposition().split()) == sorted(meters[1].exposition().split())
