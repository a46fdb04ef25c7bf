import math

import numpy as np
from nemutator_controller.sizing.keys import ContainerKey
from nemutator_controller.sizing.sources.recorded_steps import PodContainer, RecordedSteps
from nemutator_controller.sizing.sources.source_samples import replica_number, samples_of

NOW = 10_000.0
STEPS = 4
A, B, LOST = (PodContainer("shop", pod, "app") for pod in ("web-0", "web-1", "lost"))
KEY = ContainerKey("shop", "StatefulSet", "web", "app")


class Known:
    def of(self, namespace: str, pod: str, container: str) -> ContainerKey | None:
        return None if pod == "lost" else KEY


def steps(
    cores: dict[PodContainer, list[float]], memory: dict[PodContainer, list[float]]
) -> RecordedSteps:
    return RecordedSteps(
        begin=3_000.0,
        step_s=300.0,
        count=STEPS,
        cores={of: np.array(row) for of, row in cores.items()},
        memory={of: np.array(row) for of, row in memory.items()},
    )


def always(_: ContainerKey) -> float:
    return math.inf


def test_steps_of_all_pods_of_a_workload_are_samples_of_one_container() -> None:
    one, other = [0.1, 0.2, 0.3, 0.4], [1.0, math.nan, 1.2, 1.3]
    found = samples_of(steps({A: one, B: other}, {A: one, B: one}), Known(), now=NOW, before=always)
    samples = found.samples
    assert samples.keys == [KEY]
    assert samples.cpu_cores.tolist() == [*one, 1.0, 1.2, 1.3]
    assert samples.from_at.tolist() == [3_000, 3_300, 3_600, 3_900, 3_000, 3_600, 3_900]
    assert (samples.to_at - samples.from_at).tolist() == [300.0] * 7
    assert set(samples.replicas) == {replica_number("shop", pod) for pod in ("web-0", "web-1")}
    assert samples.memory_bytes.tolist() == [*one, 0.1, 0.3, 0.4]
    assert found.dropped == {"half": 1}


def test_what_is_known_already_is_not_told_again() -> None:
    row = [0.1, 0.2, 0.3, 0.4]
    found = samples_of(
        steps({A: row}, {A: row}),
        Known(),
        now=NOW,
        before=lambda _: 3_900.0,
        since=lambda _: 3_300.0,
    )
    assert found.samples.cpu_cores.tolist() == [0.2, 0.3]
    assert found.dropped == {"known": 2}


def test_what_nobody_can_use_is_counted() -> None:
    row = [0.1] * STEPS
    found = samples_of(steps({A: row, LOST: row}, {LOST: row}), Known(), now=NOW, before=always)
    assert len(found.samples.of) == 0
    assert found.dropped == {"half": 4, "unknown_owner": 4}
    late = samples_of(steps({A: row}, {A: row}), Known(), now=NOW + 1e9, before=always)
    assert late.dropped == {"unsound": 4}
