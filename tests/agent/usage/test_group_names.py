import pytest
from hypothesis import given
from hypothesis import strategies as st
from nemutator_agent.usage.group_names import GroupName, name_group

ID = "4f5a9b" + "0" * 58
UID = "0f8b2f3a-1c2d-4e5f-8a9b-0c1d2e3f4a5b"
UID_ = UID.replace("-", "_")
STATIC = "a9b0c1d2e3f405162738495a6b7c8d9e"
SHORT = ID[:12]

GOLDEN = [
    ("/", GroupName("root", "/", None, None)),
    # systemd: Ubuntu desktop, Debian server
    ("/system.slice", GroupName("slice", "system.slice", None, None)),
    ("/system.slice/ssh.service", GroupName("unit", "ssh.service", None, None)),
    ("/init.scope", GroupName("unit", "init.scope", None, None)),
    (
        r"/system.slice/system-serial\x2dgetty.slice/serial-getty@ttyS0.service",
        GroupName("unit", "serial-getty@ttyS0.service", None, None),
    ),
    (
        r"/system.slice/system-serial\x2dgetty.slice",
        GroupName("slice", "system-serial-getty.slice", None, None),
    ),
    (
        "/user.slice/user-1000.slice/session-3.scope",
        GroupName("session", "session-3.scope", None, None),
    ),
    (
        "/user.slice/user-1000.slice/user@1000.service",
        GroupName("unit", "user@1000.service", None, None),
    ),
    (
        r"/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-org.gnome.Te\xc3\xa9-1.scope",
        GroupName("unit", "app-gnome-org.gnome.Teé-1.scope", None, None),
    ),
    # Docker: systemd driver, cgroupfs driver, and a group that the container made
    (f"/system.slice/docker-{ID}.scope", GroupName("container", SHORT, ID, None)),
    (f"/docker/{ID}", GroupName("container", SHORT, ID, None)),
    (f"/docker/{ID}/init", GroupName("group", "init", ID, None)),
    ("/docker", GroupName("group", "docker", None, None)),
    # Podman: root and rootless
    (f"/machine.slice/libpod-{ID}.scope/container", GroupName("group", "container", ID, None)),
    (f"/libpod_parent/libpod-{ID}", GroupName("container", SHORT, ID, None)),
    (
        f"/machine.slice/libpod-conmon-{ID}.scope",
        GroupName("unit", f"libpod-conmon-{ID}.scope", None, None),
    ),
    # kubelet with the systemd driver; CRI-O and containerd
    ("/kubepods.slice", GroupName("slice", "kubepods.slice", None, None)),
    (
        "/kubepods.slice/kubepods-burstable.slice",
        GroupName("slice", "kubepods-burstable.slice", None, None),
    ),
    (
        f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{UID_}.slice",
        GroupName("pod", UID, None, UID),
    ),
    (f"/kubepods.slice/kubepods-pod{UID_}.slice", GroupName("pod", UID, None, UID)),
    (
        f"/kubepods.slice/kubepods-pod{STATIC}.slice/crio-{ID}.scope",
        GroupName("container", SHORT, ID, STATIC),
    ),
    (
        (
            f"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{UID_}.slice"
            f"/cri-containerd-{ID}.scope"
        ),
        GroupName("container", SHORT, ID, UID),
    ),
    # the same below a --cgroup-root whose name is anybody's choice
    (
        f"/k8s_1.slice/k8s_1-kubepods.slice/k8s_1-kubepods-pod{UID_}.slice",
        GroupName("pod", UID, None, UID),
    ),
    # kubelet with the cgroupfs driver
    (f"/kubepods/burstable/pod{UID}", GroupName("pod", UID, None, UID)),
    (f"/kubepods/pod{UID}/{ID}", GroupName("container", SHORT, ID, UID)),
    # a systemd path handed to a cgroupfs driver
    (
        f"/system.slice/containerd.service/kubepods-burstable-pod{UID_}.slice:cri-containerd:{ID}",
        GroupName("container", SHORT, ID, UID),
    ),
    # kind: a node is a container
    (
        f"/docker/{'e' * 64}/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod{UID_}.slice",
        GroupName("pod", UID, None, UID),
    ),
]


@pytest.mark.parametrize(("path", "naming"), GOLDEN)
def test_a_convention_is_known(path: str, naming: GroupName) -> None:
    assert name_group(path) == naming


@given(st.text(max_size=200))
def test_any_path_has_a_name(text: str) -> None:
    assert name_group("/" + text).name


def test_long_names_are_read_in_no_time() -> None:
    for part in ("a-" * 2000, "pod" * 1000, "kubepods-" * 400, ":" * 4000, r"\x2d" * 1000):
        assert name_group(f"/{part}").kind == "group"
