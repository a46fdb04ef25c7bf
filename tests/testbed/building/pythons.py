"""Systems whose Python is another than this machine's, and a `.venv` that was made in each.

They are no part of `make testbed`: only `make drill` asks for them.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.house.tree import ours
from tests.testbed.building import (
    apt,
    base_image,
    commands,
    debian_packages,
    made,
    making,
    pip_settings,
)
from tests.testbed.building.apt import Archive
from tests.testbed.building.cache import Cache, MissingPartError, directory
from tests.testbed.building.commands import CommandError
from tests.testbed.building.making import Workshop
from tests.testbed.building.recipes import Machine, Recipe, Release

RELEASES = {
    "3.12": Release("ubuntu", "noble", components=("main", "universe")),
    "3.13": Release("debian", "trixie"),
    "3.14": Release("debian", "forky"),
}
"""Whose python3 has that version."""

UBUNTU_KEYS = "ubuntu-keyring"
WITH_UBUNTU_KEYS = "trixie"
"""The first release of Debian that has them as a package, which Debian's own keys prove."""

PACKAGES = ("ca-certificates", "curl", "git", "libbpf1", "make", "python3", "python3-venv")
REVISION = 3
PART = "python-"

HOSTS = "127.0.0.1 localhost\n::1 localhost\n"
DEVELOPER = 1000
TREE, TEMPORARY, VENV = "nemutator", "tmp", "venv"

# $1: a root, $2: a folder with a checkout and a folder for temporary files. The mounts are in a
# namespace that goes with the processes in it.
_ENTER = f"""\
set -e
root=$1 written=$2
shift 2
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
for folder in {TREE} {TEMPORARY}; do mount --bind "$written/$folder" "$root/$folder"; done
if [ -d "$root/{VENV}" ]; then mount --bind "$root/{VENV}" "$root/{TREE}/.venv"; fi
exec chroot "$root" setpriv --reuid={DEVELOPER} --regid={DEVELOPER} --clear-groups \\
    --inh-caps=-all -- env --ignore-environment --chdir=/{TREE} \\
    HOME=/{TEMPORARY} LC_ALL=C.UTF-8 PATH={base_image.INSIDE} "$@"
"""


def make(version: str, say: Callable[[str], None]) -> Path:
    """The root of a system with that version of Python; made now where it is not there yet."""
    cache = Cache(directory())
    wanted = recipe(version, made.this_machine())
    workshop = Workshop(recipes={wanted.part: lambda: wanted}, makers={wanted.part: _build})
    if not making.make_all([wanted.part], cache, say, workshop):
        raise MissingPartError(f"no system with Python {version}: see above why")
    return cache.folder(wanted) / "root"


def recipe(version: str, machine: Machine) -> Recipe:
    release = RELEASES[version]
    inputs = {
        "architecture": machine.architecture.encode(),
        "release": f"{release.distribution} {release.suite}".encode(),
        "packages": "\n".join(PACKAGES).encode(),
        "revision": str(REVISION).encode(),
    }
    # With another one of these, scripts/venv would install anew.
    for name in ("pyproject.toml", "requirements/dev.txt", "scripts/venv"):
        inputs[name] = (ours().root / name).read_bytes()
    return Recipe(f"{PART}{version}", inputs, estimate_s=120, room_gb=3)


def inside(root: Path, written: Path, *command: str) -> Sequence[str | Path]:
    """What runs *command* in the checkout that `checkout` made in *written*, as an ordinary user."""
    return [*base_image.CONTAINED, "bash", "-c", _ENTER, "bash", root, written, *command]


def checkout(written: Path) -> None:
    """Our files as they are now, as a repository in *written*, and room for temporary ones."""
    tree = written / TREE
    for path in ours().files:
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ours().root / path, target)
    for arguments in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *arguments], cwd=tree, check=True)
    (tree / ".venv").mkdir()
    (written / TEMPORARY).mkdir()
    subprocess.run(["chown", "-R", f"{DEVELOPER}:{DEVELOPER}", written], check=True)


def _build(recipe: Recipe, cache: Cache, say: Callable[[str], None]) -> None:
    machine = made.this_machine()
    if os.geteuid() != 0:
        raise MissingPartError("needs root, because debootstrap makes device files")
    if machine.distribution != "debian":
        raise MissingPartError(f"comes from Debian's archive, and this is {machine.distribution}")
    tools = made.debian("images")
    cache.check_disk(recipe)
    say(f"{recipe.part}: making a system and its .venv; takes some 2 min")
    release = RELEASES[recipe.part.removeprefix(PART)]
    with cache.making(recipe) as folder, cache.scratch("python") as scratch:
        try:
            mirror = _own_mirror(machine, scratch)
            keyring = None
            if release.distribution != machine.distribution:
                keyring = _ubuntu_keys(
                    Archive(mirror, WITH_UBUNTU_KEYS, machine.architecture), scratch
                )
                mirror = ""
            root = base_image.bootstrap(
                tools, mirror, scratch, release=release, keyring=keyring, include=PACKAGES
            )
            _make_venv(root, scratch)
        except CommandError as failed:
            raise MissingPartError(f"could not be made: {failed}") from failed
        root.rename(folder / "root")


def _own_mirror(machine: Machine, scratch: Path) -> str:
    folder = scratch / "apt"
    folder.mkdir()
    with apt.updated(folder) as lists:
        return lists.mirror(machine.codename)


def _ubuntu_keys(debian: Archive, scratch: Path) -> Path:
    """The file of keys with which Ubuntu signs its archive, as Debian has them."""
    folder, archives, root = (scratch / name for name in ("keys-apt", "keys-archives", "keys"))
    for made_here in (folder, archives):
        made_here.mkdir()
    with apt.updated(folder, debian) as lists:
        lists.download([lists.newest(UBUNTU_KEYS)], archives)
    debian_packages.unpack_archives(archives, root, log=scratch / "keys.log")
    return root / "usr/share/keyrings/ubuntu-archive-keyring.gpg"


def _make_venv(root: Path, scratch: Path) -> None:
    (root / TREE).mkdir()
    written = scratch / "written"
    checkout(written)
    (root / "etc/hosts").write_text(HOSTS)
    lent = {Path("/etc/resolv.conf"): "/etc/resolv.conf"}
    lent |= pip_settings.lent(os.environ, scratch)
    for source, place in lent.items():
        target = root / place.lstrip("/")
        shutil.copyfile(source, target)
        os.chown(target, DEVELOPER, DEVELOPER)
    commands.run(
        inside(root, written, "make", "venv-dev"),
        log=scratch / "venv.log",
        environment=os.environ,
    )
    for place in lent.values():
        (root / place.lstrip("/")).unlink()
    (written / TREE / ".venv").rename(root / VENV)
