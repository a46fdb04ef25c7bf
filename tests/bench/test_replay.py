from nemutator_controller.sizing.buckets import CPU, VPA_CPU
from nemutator_controller.sizing.strategies import krr, vpa

from tests.bench.replay import recorded_cpu


def test_no_series_of_cpu_is_beyond_what_a_strategy_can_say() -> None:
    uses = recorded_cpu()
    assert len(uses) == 16
    for use in uses:
        assert use.pods.max() < min(CPU.largest, VPA_CPU.largest)
        assert use.pods.mean() > max(krr.LEAST_CORES, vpa.LEAST_CORES)
