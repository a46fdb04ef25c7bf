import pytest
from nemutator_controller.oversell.model import oversell_of
from nemutator_controller.policies.model import PolicyError


def test_a_sound_one_has_its_ratio_in_hundredths_and_its_defaults() -> None:
    found = oversell_of(
        "p", {"maxCPURatio": 1.5, "nodeSelector": {"matchLabels": {"pool": "batch"}}}
    )
    assert (found.asked, found.mode, found.reserve_millis) == (150, "Preview", 0)
    assert (found.bounds.cpu_percent, found.bounds.waiting_percent) == (70, 20)
    assert found.nodes.matches({"pool": "batch"})
    assert not found.nodes.matches({})
    assert oversell_of("p", {"maxCPURatio": 2, "reserve": "1.5"}).reserve_millis == 1_500


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({}, "maxCPURatio"),
        ({"maxCPURatio": 0.9}, "maxCPURatio"),
        ({"maxCPURatio": 2.1}, "maxCPURatio"),
        ({"maxCPURatio": float("nan")}, "maxCPURatio"),
        ({"maxCPURatio": "1.5"}, "maxCPURatio"),
        ({"maxCPURatio": 1.5, "maxMemoryRatio": 1.5}, "maxMemoryRatio"),
        ({"maxCPURatio": 1.5, "mode": "apply"}, "mode"),
        ({"maxCPURatio": 1.5, "reserve": "-1"}, "spec.reserve: expected no less"),
        ({"maxCPURatio": 1.5, "reserve": "much"}, "spec.reserve"),
        ({"maxCPURatio": 1.5, "pressure": {"cpuPercent": 0}}, "cpuPercent"),
        ({"maxCPURatio": 1.5, "nodeSelector": {"matchLabels": {"a": "b c"}}}, "spec.nodeSelector"),
        (None, "spec"),
        ("x", "spec"),
    ],
)
def test_faults_are_named(spec: object, fault: str) -> None:
    with pytest.raises(PolicyError, match=fault):
        oversell_of("p", spec)
