"""Run in a mount namespace of its own: what a volume does where something else is in its place.

Prints one line for each thing that was tried.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from nemutator_agent.mount.linux_mounts import LinuxMounts

POD = "pods/0a1b2c3d-0000-4111-8222-333344445555/volumes/kubernetes.io~csi"


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for what in (over_another_mount, through_a_link, twice, never_there):
            folder = root / what.__name__
            (folder / POD / "web").mkdir(parents=True)
            mounts = LinuxMounts(folder / "volumes", kubelet_root=folder)
            try:
                print(what.__name__, what(mounts, folder / POD))
            except OSError as error:
                print(what.__name__, error.strerror)
            finally:
                mounts.discard("csi-1")
    return 0


def over_another_mount(mounts: LinuxMounts, volumes: Path) -> str:
    target = volumes / "web" / "mount"
    target.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "other", target], check=True)
    (target / "theirs").touch()
    before = mounts.is_published(str(target))
    mounts.prepare("csi-1")
    mounts.publish("csi-1", str(target))
    seen = sorted(os.listdir(target)), mounts.is_published(str(target))
    mounts.unpublish(str(target))
    return f"{before} {seen} {target.exists()}"


def through_a_link(mounts: LinuxMounts, volumes: Path) -> str:
    (volumes / "elsewhere").mkdir()
    (volumes / "web").rmdir()
    (volumes / "web").symlink_to("elsewhere")
    mounts.prepare("csi-1")
    mounts.publish("csi-1", str(volumes / "web" / "mount"))
    return "followed"


def twice(mounts: LinuxMounts, volumes: Path) -> str:
    target = str(volumes / "web" / "mount")
    directory = mounts.prepare("csi-1").path
    mounts.publish("csi-1", target)
    mounts.prepare("csi-1")
    mounts.publish("csi-1", target)
    mounts.unpublish(target)
    mounts.discard("csi-1")
    return f"{os.path.exists(target)} {os.path.exists(directory)}"


def never_there(mounts: LinuxMounts, volumes: Path) -> str:
    mounts.unpublish(str(volumes / "web" / "mount"))
    mounts.discard("csi-1")
    with contextlib.suppress(FileNotFoundError):
        mounts.publish("csi-2", str(volumes / "web" / "mount"))
        return "mounted nothing"
    return "nothing"


if __name__ == "__main__":
    sys.exit(main())
