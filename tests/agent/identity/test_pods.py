import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.identity.failures import AttestationError
from nemutator_agent.identity.pods import (
    PodsRoot,
    find_pods_root,
    pod_of,
    pods_below,
    pods_named_in,
)

UID = "0a1b2c3d-0000-4111-8222-333344445555"
OTHER = "ffffffff-0000-4111-8222-333344445555"
HASH = "0123456789abcdef0123456789abcdef"
CONTAINER = "c" * 64

CGROUPFS = PodsRoot("", "/kubepods")
SYSTEMD = PodsRoot("", "/kubepods.slice")
BESTEFFORT = "kubepods-besteffort.slice"
BURSTABLE = "/kubepods.slice/kubepods-burstable.slice"
NESTED = PodsRoot("", "/docker/abc/kubelet.slice/kubelet-kubepods.slice")

IN_NESTED = f"{NESTED.path}/kubelet-kubepods-besteffort.slice"

uids = st.uuids().map(str) | st.text("0123456789abcdef", min_size=32, max_size=32)


def unified(path: str) -> str:
    return f"0::{path}\n"


def sliced(uid: str) -> str:
    return uid.replace("-", "_")


@pytest.mark.parametrize(
    ("root", "path"),
    [
        (CGROUPFS, f"/kubepods/pod{UID}/{CONTAINER}"),
        (CGROUPFS, f"/kubepods/burstable/pod{UID}/{CONTAINER}"),
        (CGROUPFS, f"/kubepods/besteffort/pod{UID}"),
        (CGROUPFS, f"/kubepods/besteffort/pod{UID}/{CONTAINER}/kubepods/pod{OTHER}/{CONTAINER}"),
        (SYSTEMD, f"/kubepods.slice/kubepods-pod{sliced(UID)}.slice/crio-{CONTAINER}.scope"),
        (
            SYSTEMD,
            f"{BURSTABLE}/kubepods-burstable-pod{sliced(UID)}.slice/crio-{CONTAINER}.scope/init",
        ),
        (
            NESTED,
            f"{IN_NESTED}/kubelet-kubepods-besteffort-pod{sliced(UID)}.slice/x",
        ),
    ],
)
def test_a_pod_is_known_at_its_place(root: PodsRoot, path: str) -> None:
    assert pod_of(unified(path), root) == UID


@given(uids, st.sampled_from(["", "burstable/", "besteffort/"]))
def test_every_uid_comes_back_as_it_is(uid: str, qos: str) -> None:
    assert pod_of(unified(f"/kubepods/{qos}pod{uid}/x"), CGROUPFS) == uid
    level = f"kubepods-{qos[:-1]}.slice/kubepods-{qos[:-1]}" if qos else "kubepods"
    path = f"/kubepods.slice/{level}-pod{sliced(uid)}.slice/x"
    assert pod_of(unified(path), SYSTEMD) == uid


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/kubepods",
        "/kubepods/burstable",
        f"/kubepods/burstable/x/pod{UID}",
        f"/kubepods/guaranteed/pod{UID}",
        f"/kubepods/burstable/burstable/pod{UID}",
        f"/kubepods/burstable/pod{UID}x",
        f"/kubepods/burstable/pod{UID.upper()}",
        f"/kubepods/burstable/pod{sliced(UID)}",
        f"/kubepods/burstable/pod{HASH}0",
        f"/kubepods/burstable/{UID}",
        f"/kubepodsx/pod{UID}",
        f"/x/kubepods/pod{UID}",
        f"//kubepods/pod{UID}",
        f"/kubepods//pod{UID}",
        f"/kubepods/pod{UID}\u2028",
    ],
)
def test_what_stands_elsewhere_is_no_pod(path: str) -> None:
    with pytest.raises(AttestationError) as refused:
        pod_of(unified(path), CGROUPFS)
    assert refused.value.step == "position"


@pytest.mark.parametrize(
    "path",
    [
        f"/kubepods.slice/kubepods-pod{UID}.slice/x",
        f"/kubepods.slice/pod{UID}/x",
        f"/kubepods.slice/kubepods-pod{sliced(UID)}/x",
        f"/kubepods.slice/kubepods-burstable-pod{sliced(UID)}.slice/x",
        f"/kubepods.slice/kubepods-burstable.slice/kubepods-pod{sliced(UID)}.slice/x",
        f"/kubepods.slice/kubepods-burstable.slice/kubepods-besteffort-pod{sliced(UID)}.slice/x",
        f"/kubepods.slice/x/kubepods-pod{sliced(UID)}.slice/x",
        f"/kubepods.slice:cri-containerd:kubepods-pod{sliced(UID)}.slice/x",
    ],
)
def test_what_systemd_would_not_call_a_pod_is_none(path: str) -> None:
    with pytest.raises(AttestationError) as refused:
        pod_of(unified(path), SYSTEMD)
    assert refused.value.step == "position"


def test_in_version_1_one_hierarchy_speaks_and_the_others_agree() -> None:
    path = f"/run/kubepods/burstable/pod{UID}/{CONTAINER}"
    root = PodsRoot("memory", "/run/kubepods")
    text = f"9:name=systemd:{path}\n4:memory:{path}\n2:cpu,cpuacct:{path}\n0::/\n"
    assert pod_of(text, root) == UID
    with pytest.raises(AttestationError) as refused:
        pod_of(text.replace("memory", "rdma"), root)
    assert refused.value.step == "cgroup"


def test_a_hierarchy_that_names_another_pod_is_a_contradiction() -> None:
    text = f"4:memory:/kubepods/pod{UID}/x\n0::/user.slice/kubepods/pod{OTHER}/x\n"
    with pytest.raises(AttestationError) as refused:
        pod_of(text, PodsRoot("memory", "/kubepods"))
    assert refused.value.step == "hierarchies"
    assert OTHER in refused.value.why


def test_a_cluster_in_a_pod_does_not_trip_over_the_outer_one() -> None:
    outer = f"/kubepods/pod{OTHER}/x/kubepods"
    text = f"4:memory:{outer}/pod{UID}/y\n2:pids:{outer}/pod{UID}/y\n"
    assert pod_of(text, PodsRoot("memory", outer)) == UID


OWN = f"{BURSTABLE}/kubepods-burstable-pod{sliced(OTHER)}.slice/own"


@pytest.mark.parametrize(
    "path",
    [
        f"/../../kubepods-burstable-pod{sliced(UID)}.slice/x",
        f"/../../../kubepods-pod{sliced(UID)}.slice/x",
        f"/../../../kubepods-besteffort.slice/kubepods-besteffort-pod{sliced(UID)}.slice/x",
    ],
)
def test_from_a_namespace_of_ones_own_paths_are_put_together(path: str) -> None:
    root = find_pods_root("0::/\n", f"/kubepods.slice@{OWN}")
    assert pod_of(unified(path), root) == UID


@pytest.mark.parametrize(
    "path",
    ["/", "/..", "/../other", f"/kubepods.slice/kubepods-pod{sliced(UID)}.slice/x"],
)
def test_from_a_namespace_what_lies_in_the_own_pod_is_the_own_pod(path: str) -> None:
    root = find_pods_root("0::/\n", f"/kubepods.slice@{OWN}")
    assert pod_of(unified(path), root) == OTHER


@pytest.mark.parametrize(
    ("path", "step"),
    [
        (f"/../../../../user.slice/kubepods-pod{sliced(UID)}.slice", "position"),
        (f"/../../../../../kubepods.slice/kubepods-pod{sliced(UID)}.slice", "cgroup"),
        (f"/../x/../kubepods-pod{sliced(UID)}.slice", "cgroup"),
    ],
)
def test_from_a_namespace_nothing_else_is_another_pod(path: str, step: str) -> None:
    root = find_pods_root("0::/\n", f"/kubepods.slice@{OWN}")
    with pytest.raises(AttestationError) as refused:
        pod_of(unified(path), root)
    assert refused.value.step == step


def test_in_a_namespace_whose_place_is_unknown_nobody_is_admitted() -> None:
    root = find_pods_root("0::/\n", "/kubepods.slice")
    with pytest.raises(AttestationError) as refused:
        pod_of(unified(f"/../../kubepods-burstable-pod{sliced(UID)}.slice/x"), root)
    assert refused.value.step == "position"
    assert "remedy" in refused.value.why


@pytest.mark.parametrize(
    ("own", "root"),
    [
        (unified(f"/kubepods/burstable/pod{UID}/{CONTAINER}"), CGROUPFS),
        (unified(f"/kubepods/pod{UID}/{CONTAINER}"), CGROUPFS),
        (unified(OWN), SYSTEMD),
        (
            unified(f"{NESTED.path}/kubelet-kubepods-pod{sliced(UID)}.slice/x"),
            NESTED,
        ),
        (
            f"4:memory:/run/kubepods/besteffort/pod{UID}/x\n1:pids:/x\n0::/\n",
            PodsRoot("memory", "/run/kubepods"),
        ),
        # Of a cluster in a pod, it is the inner kubelet whose pods we serve.
        (
            unified(f"/kubepods/burstable/pod{OTHER}/x/kubelet/kubepods/burstable/pod{UID}/y"),
            PodsRoot("", f"/kubepods/burstable/pod{OTHER}/x/kubelet/kubepods"),
        ),
        # Version 1 for network classes only, as VPNs do: kubelet uses version 2.
        (f"1:net_cls:/\n0::/kubepods/pod{UID}/x\n", CGROUPFS),
    ],
)
def test_the_agents_own_pod_shows_where_pods_are(own: str, root: PodsRoot) -> None:
    assert find_pods_root(own, "") == root


@pytest.mark.parametrize("own", ["0::/\n", "0::/system.slice/agent.service\n", "nonsense"])
def test_without_a_pod_of_its_own_the_setting_is_asked_for(own: str) -> None:
    with pytest.raises(ValueError, match=r"pods_root|own control groups"):
        find_pods_root(own, "")


def test_drivers_that_differ_are_named_and_not_a_setting() -> None:
    """A recording of a node whose containerd has another driver than its kubelet."""
    group = f"kubepods-burstable-pod{sliced(UID)}.slice:cri-containerd:{'0f' * 32}"
    for path in (f"/system.slice/containerd.service/{group}", f"/{group}"):
        with pytest.raises(ValueError, match=r"different cgroup drivers.*SystemdCgroup"):
            find_pods_root(f"1:name=systemd:{path}\n4:memory:{path}\n", "")


def test_the_setting_says_hierarchy_and_place() -> None:
    hybrid = "4:memory:/x\n1:pids:/y\n0::/\n"
    assert find_pods_root(hybrid, "/kubepods") == PodsRoot("memory", "/kubepods")
    assert find_pods_root(hybrid, "pids:/a/b") == PodsRoot("pids", "/a/b")
    assert find_pods_root(hybrid, ":/kubepods") == PodsRoot("", "/kubepods", None)
    assert find_pods_root(hybrid, ":/a@/a/b/c") == PodsRoot("", "/a", "/a/b/c")


@pytest.mark.parametrize(
    "setting",
    ["kubepods", "/", "//", "/a/", "/a/../b", "rdma:/a", "/a@b", "/a@/b/..", "/a\n", "@/a"],
)
def test_a_setting_that_is_no_place_is_refused(setting: str) -> None:
    with pytest.raises(ValueError, match="expected kubelet's control group"):
        find_pods_root("4:memory:/x\n0::/\n", setting)


def test_a_text_may_mean_many_pods() -> None:
    text = (
        f"4:memory:/kubepods/pod{UID}/x/kubepods-pod{sliced(OTHER)}.slice\n"
        f"2:pids:/POD{HASH.upper()}:cri-containerd:x\n0::/../../kubepods-burstable-pod{sliced(UID)}.slice\n"
    )
    assert pods_named_in(text) == {UID, OTHER, HASH}
    assert pods_named_in("0::/system.slice/podman.service\n") == frozenset()


def test_whoever_asks_again_is_who_it_was_and_a_refusal_stays_one() -> None:
    found = pods_below(CGROUPFS)
    for uid in (UID, OTHER, UID):
        text = unified(f"/kubepods/pod{uid}/x")
        assert found(text) == pod_of(text, CGROUPFS) == uid
        long = text + "".join(f"{number}:c{number}:/{'a' * 60}\n" for number in range(2, 60))
        assert found(long) == uid
        with pytest.raises(AttestationError):
            found(unified("/system.slice/sshd.service"))
