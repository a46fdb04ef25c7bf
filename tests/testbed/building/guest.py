"""The disk of a machine with systemd and control groups of version 2.

What our packages need comes on a second disk, which changes more often (`guest_packages.py`), what
belongs to one run on a third (`parts/machine/`), and the modules of its kernel on the last
(`guest_kernels.py`). Of all but the third, all runs at once use copies.
"""

import os
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import base_image, commands, disks, made, unpacked
from tests.testbed.building.apt import updated
from tests.testbed.building.cache import Cache, MissingPartError
from tests.testbed.building.commands import CommandError
from tests.testbed.building.recipes import Recipe

PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "udev", "kmod", "openssh-server"),
    *("ca-certificates", "curl", "iproute2", "libbpf1", "procps", "python3"),
)

# The disks beside that of the system: what one run brings, and the packages that are locked.
RUN_DISK = "/opt/nemutator"
PACKAGES_DISK = "/opt/packages"
MODULES = "/usr/lib/modules"

FILES = {
    "etc/hostname": "node\n",
    "etc/fstab": (
        "/dev/vda / ext4 noatime 0 0\n"
        f"/dev/vdb {PACKAGES_DISK} ext4 noatime 0 0\n"
        f"/dev/vdc {RUN_DISK} ext4 ro 0 0\n"
    ),
    # As QEMU's own network has it; nothing beyond it can be reached.
    "etc/systemd/network/guest.network": "[Match]\nName=en*\n\n[Network]\nAddress=10.0.2.15/24\n",
    # Emulated on a busy machine, a disk may come later than after 90 s.
    "etc/systemd/system.conf.d/patience.conf": (
        "[Manager]\nDefaultTimeoutStartSec=30min\nDefaultDeviceTimeoutSec=30min\n"
    ),
    "etc/ssh/sshd_config.d/guest.conf": f"AuthorizedKeysFile {RUN_DISK}/authorized_keys\n",
    "usr/lib/python3/dist-packages/nemutator-guest.pth": (f"{RUN_DISK}/site\n{PACKAGES_DISK}\n"),
}

# What would work beside the tests.
MASKED = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer"),
    *("fstrim.timer", "systemd-networkd-wait-online.service"),
)


def build(recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    """Make `disk.img`. To be called while the cache is locked."""
    machine = made.this_machine()
    if os.geteuid() != 0:
        raise MissingPartError("needs root, because debootstrap makes device files")
    if machine.architecture != "amd64":
        raise MissingPartError(f"guests are made for amd64, and this is {machine.architecture}")
    tools = made.debian("images")
    cache.check_disk(recipe)
    say(f"{recipe.part}: making a machine with control groups of version 2; takes some 3 min")
    with cache.making(recipe) as folder, cache.scratch("guest") as scratch:
        (scratch / "apt").mkdir()
        try:
            with updated(scratch / "apt") as lists:
                root = base_image.bootstrap(
                    tools, lists.mirror(machine.codename), scratch, include=PACKAGES
                )
            configure(root)
            _run(["chroot", root, "systemctl", "enable", "systemd-networkd.service"], scratch)
            _run(["chroot", root, "systemctl", "mask", *MASKED], scratch)
            python = (root / "usr/bin/python3").readlink().name
            (folder / "python").write_text(python.removeprefix("python"))
            disks.make(root, folder / "disk.img", "4G", log=scratch / "guest.log")
        except CommandError as failed:
            raise MissingPartError(f"could not be made: {failed}") from failed


def configure(root: Path) -> None:
    """What is ours of a guest's files."""
    for name, content in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    for disk in (RUN_DISK, PACKAGES_DISK, MODULES):
        (root / disk.lstrip("/")).mkdir(parents=True, exist_ok=True)
    programs = root / "usr/local/bin"
    programs.mkdir(parents=True, exist_ok=True)
    for command in ("nemutator", "nemutator-agent", "nemutator-controller"):
        (programs / command).symlink_to(f"{RUN_DISK}/site/bin/{command}")


def _run(command: list[str | Path], scratch: Path) -> None:
    inherited = {"HOME": str(scratch), "PATH": unpacked.SYSTEM, "LC_ALL": "C"}
    commands.run(command, log=scratch / "guest.log", environment={**os.environ, **inherited})
