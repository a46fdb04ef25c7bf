"""Callers that stand for a whole sandbox, as the documentation of Kata Containers places them."""

import pytest
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.pods import PodsRoot, pod_of

POD = "aaaaaaaa-0000-4111-8222-333344445555"
BOX = "c" * 64


@pytest.mark.parametrize(
    ("root", "text"),
    [
        # sandbox_cgroup_only = false: the shim, virtiofsd, and the threads of the machine that are no CPUs
        (PodsRoot("", "/kubepods"), f"0::/kata_overhead/{BOX}\n"),
        (PodsRoot("memory", "/kubepods"), f"4:memory:/kata_overhead/kubepods/pod{POD}/{BOX}\n"),
        # sandbox_cgroup_only = true, and the CPUs of the machine always
        (PodsRoot("", "/kubepods"), f"0::/kubepods/pod{POD}/kata_{BOX}\n"),
        (PodsRoot("memory", "/kubepods"), f"4:memory:/kubepods/burstable/pod{POD}/kata_{BOX}\n"),
    ],
)
def test_a_process_of_a_kata_sandbox_is_refused_by_name(root: PodsRoot, text: str) -> None:
    with pytest.raises(
        AttestationError, match=r"Kata Containers.*remedy: .*runtimeClassName"
    ) as no:
        pod_of(text, root)
    assert no.value.step == "position"
