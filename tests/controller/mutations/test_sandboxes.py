"""Classes and handlers as the documentation of Kata, gVisor, GKE, AKS and OpenShift has them."""

import pytest
from nemutator_controller.mutations.sandboxes import why_not_in

KATA, GVISOR = "Kata Containers", "gVisor"


@pytest.mark.parametrize(
    ("runtime_class", "handler", "sandbox"),
    [
        ("kata-qemu", "kata-qemu", KATA),
        ("kata-clh", "kata-clh", KATA),
        ("kata", "kata", KATA),
        ("kata-remote", "kata-remote", KATA),
        ("kata-vm-isolation", "kata", KATA),
        ("small-kata-pods", "kata", KATA),
        ("gvisor", "runsc", GVISOR),
        ("gvisor", "gvisor", GVISOR),
        ("untrusted", "runsc-kvm", GVISOR),
    ],
)
def test_a_sandbox_is_named_with_what_to_do(runtime_class: str, handler: str, sandbox: str) -> None:
    why = why_not_in(runtime_class, handler)
    assert f"is {sandbox}: " in why
    assert repr(handler) in why
    assert "nemutator.io/inject" in why


@pytest.mark.parametrize(
    ("runtime_class", "sandbox"), [("kata-qemu", KATA), ("gvisor", GVISOR), ("runsc", GVISOR)]
)
def test_without_the_handler_the_name_has_to_do(runtime_class: str, sandbox: str) -> None:
    assert f"is {sandbox}: " in why_not_in(runtime_class, None)


@pytest.mark.parametrize(
    ("runtime_class", "handler"),
    [("nvidia", "nvidia"), ("crun", "crun"), ("katalog", None), ("kata-like", "runc"), ("x", None)],
)
def test_others_share_the_nodes_kernel(runtime_class: str, handler: str | None) -> None:
    assert why_not_in(runtime_class, handler) == ""


def test_a_name_is_not_repeated_at_length() -> None:
    assert len(why_not_in("kata-" + "x" * 100_000, "kata-" + "y" * 100_000)) < 500
