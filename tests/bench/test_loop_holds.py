from nemutator_common import names
from nemutator_common.serving.metrics import Metrics

from tests.bench.loop_holds import LoopHolds


def test_of_a_part_of_the_time_only_its_own_holds_are_told() -> None:
    meter = Metrics()
    held = meter.observer(names.LOOP_HELD)
    held(0.3)
    before = LoopHolds.of(meter.exposition().decode())
    held(0.0)
    held(0.03)
    after = LoopHolds.of(meter.exposition().decode())
    assert before.told() == {"loop_held_at_most_s": 0.5, "loop_held_over_100_ms": 1}
    assert after.since(before).told() == {"loop_held_at_most_s": 0.05, "loop_held_over_100_ms": 0}
