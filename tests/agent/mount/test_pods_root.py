import pytest
from nemutator_agent.identity.pods import PodsRoot, find_pods_root, pod_of
from nemutator_agent.mount.pods_root import pods_root_for

OWN_POD = "01234567-89ab-cdef-0123-456789abcdef"
OTHER_POD = "11111111-2222-3333-4444-555555555555"


def scope(pod: str, container: str) -> str:
    name = pod.replace("-", "_")
    return (
        f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{name}.slice"
        f"/cri-containerd-{container * 64}.scope"
    )


def test_the_setting_makes_sense_of_paths_that_lead_out_of_a_namespace() -> None:
    setting = pods_root_for(f"0::{scope(OWN_POD, 'a')}\n", f"0::{scope(OWN_POD, 'b')}\n")
    # As the container sees itself, with a namespace of its own.
    root = find_pods_root("0::/\n", setting)
    outside = (
        f"/../../{scope(OTHER_POD, 'c').removeprefix('/kubepods.slice/kubepods-burstable.slice/')}"
    )
    assert pod_of(f"0::{outside}\n", root) == OTHER_POD
    assert pod_of("0::/\n", root) == OWN_POD


def test_with_version_1_it_is_what_the_other_finds_itself() -> None:
    own = f"4:memory:/kubepods/burstable/pod{OWN_POD}/{'a' * 64}\n0::/\n"
    theirs = f"4:memory:/kubepods/burstable/pod{OWN_POD}/{'b' * 64}\n0::/\n"
    assert find_pods_root(theirs, "") == PodsRoot("memory", "/kubepods")
    root = find_pods_root(theirs, pods_root_for(own, theirs))
    assert (root.hierarchy, root.path) == ("memory", "/kubepods")
    assert pod_of(theirs, root) == OWN_POD


@pytest.mark.parametrize(
    ("own", "theirs"),
    [
        ("0::/\n", "0::/\n"),
        ("0::/user.slice\n", "0::/user.slice\n"),
        ("garbage", "garbage"),
        (f"0::{scope(OWN_POD, 'a')}\n", "0::/\n"),
        (f"0::{scope(OWN_POD, 'a')}\n", "garbage"),
    ],
)
def test_what_is_not_seen_gives_no_setting(own: str, theirs: str) -> None:
    assert pods_root_for(own, theirs) == ""
