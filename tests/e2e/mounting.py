"""Run in a mount namespace of its own: what a volume does where something else is in its place.

Prints one line for each case that was tried.
"""

import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from nemutator_agent.credentials.files.pod_folder import LARGEST, PodFolder
from nemutator_agent.credentials.value_digests import ValueDigests
from nemutator_agent.mount.linux_mounts import LinuxMounts
from nemutator_common.declarations import MOST
from nemutator_common.secret import Secret

POD = "pods/0a1b2c3d-0000-4111-8222-333344445555/volumes/kubernetes.io~csi"
DRIVER = "agent.nemutator.io"


class Node:
    """A kubelet's root with one pod, and our mounts in it."""

    def __init__(self, folder: Path) -> None:
        self.volume = folder / POD / "web"
        self.volume.mkdir(parents=True)
        self.target = self.volume / "mount"
        self.volumes = folder / "volumes"
        self.mounts = LinuxMounts(self.volumes, kubelet_root=folder, driver=DRIVER)

    def publish(self, volume_id: str = "csi-1") -> None:
        self.mounts.prepare(volume_id, str(self.target))
        self.mounts.publish(volume_id, str(self.target))

    def unpublish(self, volume_id: str = "csi-1") -> None:
        self.mounts.unpublish(volume_id, str(self.target))
        self.mounts.discard(volume_id)

    def mount_anothers(self, path: Path, name: str) -> None:
        path.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "other", path], check=True)
        (path / name).touch()

    def seen(self) -> str:
        return ",".join(sorted(os.listdir(self.target)))


def main() -> int:
    cases = (
        over_another_mount,
        under_another_mount,
        over_another_drivers_volume,
        under_another_id,
        through_a_link,
        through_a_link_to_another_mount,
        unmounted_by_somebody,
        twice,
        for_its_group,
        never_there,
        filled_by_its_pod,
        holds_two_sets_of_files,
    )
    with tempfile.TemporaryDirectory() as name:
        subprocess.run(["mount", "-t", "tmpfs", "none", name], check=True)
        try:
            for case in cases:
                print(case.__name__, case(Node(Path(name, case.__name__))))
        finally:
            subprocess.run(["umount", "--recursive", "--lazy", name], check=True)
    return 0


def refusal(of: Callable[..., object], *given: str | bytes) -> str:
    try:
        of(*given)
    except OSError as error:
        return error.strerror or ""
    return "not refused"


def over_another_mount(node: Node) -> str:
    node.mount_anothers(node.target, "theirs")
    refused = refusal(node.publish), refusal(node.unpublish)
    return f"{refused} {node.seen()} {node.mounts.is_published('csi-1', str(node.target))}"


def under_another_mount(node: Node) -> str:
    node.publish()
    node.mount_anothers(node.target, "theirs")
    return f"{refusal(node.unpublish)} {node.seen()}"


def over_another_drivers_volume(node: Node) -> str:
    """It is not mounted yet, or it is mounted where kubelet looks and not there."""
    note = {"driverName": "ebs.csi.aws.com", "volumeHandle": "vol-1"}
    (node.volume / "vol_data.json").write_text(json.dumps(note))
    refused = refusal(node.publish), refusal(node.unpublish)
    return f"{refused} {node.target.exists()}"


def under_another_id(node: Node) -> str:
    node.publish()
    (node.target / "ours").touch()
    node.mounts.prepare("csi-2", "/".join([str(node.volume), "none", "mount"]))
    refused = refusal(node.unpublish, "csi-2")
    seen = node.seen()
    node.mounts.discard("csi-2")
    node.unpublish()
    return f"{refused} {seen}"


def through_a_link(node: Node) -> str:
    (node.volume.parent / "elsewhere").mkdir()
    node.volume.rmdir()
    node.volume.symlink_to("elsewhere")
    return refusal(node.publish)


def through_a_link_to_another_mount(node: Node) -> str:
    """The volume's own directory was replaced by a link to what another driver has mounted."""
    node.mount_anothers(node.volume / "other", "theirs")
    node.volumes.mkdir(exist_ok=True)
    (node.volumes / "csi-1").symlink_to(node.volume / "other")
    refused = refusal(node.mounts.prepare, "csi-1", str(node.target))
    refused_end = refusal(node.mounts.discard, "csi-1")
    return f"{refused}, {refused_end} {os.listdir(node.volume / 'other')}"


def unmounted_by_somebody(node: Node) -> str:
    """The pod goes on with what it sees, and so must the directory in which its socket is made."""
    node.publish()
    (node.target / "ours").touch()
    subprocess.run(["umount", node.volumes / "csi-1"], check=True)
    still = node.mounts.is_published("csi-1", str(node.target))
    directory = node.mounts.prepare("csi-1", str(node.target))
    same = directory.device == os.stat(node.target).st_dev
    node.unpublish()
    return f"{still} {same} {node.target.exists()}"


def twice(node: Node) -> str:
    node.publish()
    node.publish()
    node.unpublish()
    return f"{node.target.exists()} {(node.volumes / 'csi-1').exists()}"


def for_its_group(node: Node) -> str:
    """What is made in the folder is for the group, and nothing is where a link leads."""
    directory, target = node.volumes / "csi-1", str(node.target)
    node.mounts.prepare("csi-1", target)
    node.mounts.prepare("csi-1", target, group=2000)
    made = directory / "secrets"
    (made / "file").touch()
    shown = f"{stat.filemode(made.stat().st_mode)} {(made / 'file').stat().st_gid}"
    (made / "file").unlink()
    made.rmdir()
    elsewhere = node.volume / "elsewhere"
    elsewhere.mkdir()
    made.symlink_to(elsewhere)
    node.mounts.prepare("csi-1", target, group=2000)
    node.unpublish()
    return f"{shown} {elsewhere.stat().st_gid}"


def never_there(node: Node) -> str:
    node.unpublish()
    return refusal(node.mounts.publish, "csi-2", str(node.target))


def filled_by_its_pod(node: Node) -> str:
    """As root, and without the directory that it may write in anyway."""
    node.publish()
    (node.target / "secrets").rmdir()
    made = 0
    while refusal((node.target / str(made)).touch) == "not refused":
        made += 1
    refused = refusal(node.mounts.prepare, "csi-1", str(node.target))
    other = refusal(node.mounts.prepare, "csi-2", f"{node.volume}/none/mount")
    node.unpublish()
    return f"{made < 256} {refused}, another volume is {other} {node.target.exists()}"


def holds_two_sets_of_files(node: Node) -> str:
    """Of the largest that a pod may have: while one replaces the other, both are there. More than its megabyte
    it does not take of the node."""
    node.publish()
    volume = os.open(node.target, os.O_RDONLY | os.O_DIRECTORY)
    files = PodFolder(volume, user=1000, digests=ValueDigests(Secret("of this node")))
    sizes = [(4 << 10) + 1] * (MOST - 1)
    sizes.append(LARGEST - sum(sizes))
    names = [f"{number:02}{'x' * 61}" for number in range(MOST)]
    states = []
    for letter in "ab":
        values = {name: Secret(letter * size) for name, size in zip(names, sizes, strict=True)}
        files.write(values)
        states.append(str(files.state(values)))
    os.close(volume)
    more = node.target / "secrets" / "more"
    refused = refusal(more.write_bytes, b"x" * (1 << 20))
    node.unpublish()
    return f"{states} {refused}"


if __name__ == "__main__":
    sys.exit(main())
