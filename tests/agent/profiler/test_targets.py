import pytest
from nemutator_agent.profiler.refusals import ProfileRefused
from nemutator_agent.profiler.targets import GroupDirectory, by_preference, pod_group

UNIFIED = GroupDirectory("/cg/unified/x", frozenset())
CPUACCT = GroupDirectory("/cg/cpuacct/x", frozenset({"cpuacct"}))
MEMORY = GroupDirectory("/cg/memory/x", frozenset({"memory"}))
SYSTEMD = GroupDirectory("/cg/systemd/x", frozenset({"name=systemd"}))


def test_version_2_is_preferred_then_what_counts_cpu_time() -> None:
    assert by_preference([MEMORY, SYSTEMD, CPUACCT, UNIFIED], "/x") == (
        (UNIFIED, ""),
        (CPUACCT, "cpuacct"),
        (MEMORY, "memory"),
    )


def test_a_group_that_is_nowhere_is_gone() -> None:
    with pytest.raises(ProfileRefused, match="no control group '/x'") as refusal:
        by_preference([], "/x")
    assert refusal.value.reason == "gone"


def test_a_group_of_no_controller_cannot_be_sampled() -> None:
    with pytest.raises(ProfileRefused, match="no hierarchy that can be sampled"):
        by_preference([SYSTEMD], "/x")


def test_a_pod_is_the_shallowest_group_that_bears_its_uid() -> None:
    real = "/kubepods/burstable/podU"
    forged = "/kubepods/podV/0123/podU"
    assert pod_group([forged, real, real], "U") == real


def test_two_groups_at_one_level_that_claim_to_be_a_pod_are_refused() -> None:
    with pytest.raises(ProfileRefused, match="two control groups claim to be pod 'U'"):
        pod_group(["/a/podU", "/b/podU"], "U")


def test_a_pod_without_processes_is_gone() -> None:
    with pytest.raises(ProfileRefused, match="no process of pod 'U'"):
        pod_group([], "U")
