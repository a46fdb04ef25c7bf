"""Texts of /proc/PID/cgroup that were made to be taken for another pod's."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.identity.attestors import PodAttestor
from nemutator_agent.identity.facts import ProcessFacts
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.pods import PodsRoot

MINE = "aaaaaaaa-0000-4111-8222-333344445555"
VICTIM = "bbbbbbbb-0000-4111-8222-333344445555"
STATIC_VICTIM = "b" * 32
BOX = "c" * 64
USER = "/user.slice/user-1000.slice/user@1000.service"

V2 = PodsRoot("", "/kubepods")
V2_SYSTEMD = PodsRoot("", "/kubepods.slice")
V1 = PodsRoot("memory", "/kubepods")


def sliced(uid: str) -> str:
    return uid.replace("-", "_")


MY_SLICE = f"/kubepods.slice/kubepods-pod{sliced(MINE)}.slice/cri-containerd-{BOX}.scope"


def admitted(text: str, root: PodsRoot, pod: str) -> bool:
    try:
        PodAttestor(root).admit(ProcessFacts(text, 1, None), pod)
    except AttestationError:
        return False
    return True


@pytest.mark.parametrize(
    ("root", "text"),
    [
        # Nested: the pod may write in its own part of the tree, and calls a group like the victim.
        (V2, f"0::/kubepods/pod{MINE}/{BOX}/kubepods/pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/kubepods/pod{MINE}/pod{VICTIM}/{BOX}\n"),
        (V2_SYSTEMD, f"0::{MY_SLICE}/kubepods-pod{sliced(VICTIM)}.slice/crio-{BOX}.scope\n"),
        # Delegated: an ordinary user's part of the tree, with kubelet's names in it.
        (V2, f"0::{USER}/kubepods/burstable/pod{VICTIM}/{BOX}\n"),
        (V2_SYSTEMD, f"0::{USER}/kubepods.slice/kubepods-pod{sliced(VICTIM)}.slice/{BOX}\n"),
        # The same in the hierarchy that does not speak, with nothing in the one that does.
        (V1, f"4:memory:/\n0::{USER}/kubepods/burstable/pod{VICTIM}/{BOX}\n"),
        (V1, f"4:memory:/\n0::/kubepods/pod{VICTIM}/{BOX}\n"),
        (V1, f"9:name=systemd:/kubepods/pod{VICTIM}/{BOX}\n4:memory:{USER}\n"),
        # Names with the file's own marks in them.
        (V2, f"0::/x:0::/kubepods/pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/x\\n0::/kubepods/pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/x\n0::/kubepods/pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/kubepods/pod{VICTIM}/{BOX}\n0::/x\n"),
        (V2, f"1:name=a,:/kubepods/pod{VICTIM}/{BOX}\n0::/x\n"),
        (V2, f"0::/x\r0::/kubepods/pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/x\u20280::/kubepods/pod{VICTIM}/{BOX}\n"),
        (V2, f"0:::cri-containerd:/kubepods/pod{VICTIM}/{BOX}\n"),
        (V1, f"4:memory,x:/y\n5:cpu:memory:/kubepods/pod{VICTIM}/{BOX}\n"),
        # Ways up and around.
        (V2, f"0::/../kubepods/pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/x/../kubepods/pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/kubepods/../kubepods/pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/kubepods/./pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/KUBEPODS/pod{VICTIM}/{BOX}\n"),
        (V2, f"0::/kubepods/burstable/besteffort/pod{VICTIM}/{BOX}\n"),
        # Beside the place: one level short, one level deep, or with something stuck to it.
        (V2, f"0::/kubepodspod{VICTIM}\n"),
        (V2, f"0::/kubepods/pod{VICTIM}:cri-containerd:{BOX}\n"),
        (V2, f"0::/kubepods/pod{VICTIM} (deleted)\n"),
        (V2, f"0::/kubepods/pod{VICTIM}\x00/{BOX}\n"),
        (V2_SYSTEMD, f"0::/kubepods.slice/kubepods-pod{sliced(VICTIM)}.slice.wants/{BOX}\n"),
        (V2_SYSTEMD, f"0::/kubepods.slice/kubepods-x-pod{sliced(VICTIM)}.slice/{BOX}\n"),
        # The speaking hierarchy may not be contradicted, whoever is right.
        (V1, f"4:memory:/kubepods/pod{VICTIM}/{BOX}\n0::/kubepods/pod{MINE}/{BOX}\n"),
        (V1, f"4:memory:/kubepods/pod{VICTIM}/{BOX}\n3:cpu:/x/kubepods-pod{sliced(MINE)}.slice\n"),
        (V1, f"4:memory:/kubepods/pod{VICTIM}/{BOX}\n3:cpu:/POD{MINE.upper()}\n"),
    ],
)
def test_nobody_is_taken_for_the_victim(root: PodsRoot, text: str) -> None:
    assert not admitted(text, root, VICTIM)


def test_a_static_pods_name_is_guarded_in_the_same_way() -> None:
    assert admitted(f"0::/kubepods/pod{STATIC_VICTIM}/x\n", V2, STATIC_VICTIM)
    nested = f"0::/kubepods/pod{MINE}/{BOX}/kubepods/pod{STATIC_VICTIM}/x\n"
    assert not admitted(nested, V2, STATIC_VICTIM)
    both = f"4:memory:/kubepods/pod{MINE}/x\n3:cpu:/x/pod{STATIC_VICTIM}/y\n"
    assert not admitted(both, V1, MINE)


def test_what_a_pod_does_below_itself_harms_only_itself() -> None:
    assert admitted(f"0::/kubepods/pod{MINE}/{BOX}/kubepods/pod{VICTIM}/x\n", V2, MINE)


names = st.text(
    st.characters(exclude_characters="/\n\0", exclude_categories=["Cs"]), min_size=1, max_size=12
)
# Everything that an attacker could hope for, in any order and depth.
words = names | st.sampled_from(
    [
        "kubepods",
        "kubepods.slice",
        "burstable",
        "kubepods-burstable.slice",
        f"pod{VICTIM}",
        f"kubepods-pod{sliced(VICTIM)}.slice",
        f"kubepods-burstable-pod{sliced(VICTIM)}.slice",
        f"cri-containerd-{BOX}.scope",
        "..",
        ".",
        "0::",
        ":",
    ]
)
chosen = st.lists(words, max_size=7).map("/".join)


@given(st.sampled_from([V2, V2_SYSTEMD]), st.sampled_from([USER, f"/kubepods/pod{MINE}"]), chosen)
def test_whatever_is_made_below_ones_own_group_is_not_the_victim(
    root: PodsRoot, own: str, below: str
) -> None:
    assert not admitted(f"0::{own}/{below}\n", root, VICTIM)


@given(chosen, chosen)
def test_whatever_stands_in_a_silent_hierarchy_is_not_the_victim(other: str, unified: str) -> None:
    text = f"9:name=systemd:/{other}\n4:memory:{USER}\n0::/{unified}\n"
    assert not admitted(text, V1, VICTIM)


@given(st.text(max_size=300))
def test_any_text_is_a_pod_or_a_refusal(text: str) -> None:
    with contextlib.suppress(AttestationError):
        PodAttestor(V2).admit(ProcessFacts(text, 1, None), VICTIM)
