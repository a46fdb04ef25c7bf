"""buildah out of its unpacked packages, with storage of its own: the machine's is not looked at."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.testbed.building import commands, unpacked

# What it must trust here was made by us.
TRUST = '{"default": [{"type": "insecureAcceptAnything"}]}\n'

# No registry is ever asked, whatever this machine's own configuration names.
REGISTRIES = "unqualified-search-registries = []\n"

STORAGE = """\
[storage]
driver = "{driver}"
graphroot = "{folder}/storage"
runroot = "{folder}/run"
"""

# buildah starts itself anew with an empty environment, where no LD_LIBRARY_PATH says where its
# libraries are. So in mounts of its own, which go with its processes, the loader's cache names
# them. $1: a folder for that cache, $2: the directories, then the command.
CONTAINED = """\
set -e
mount -t tmpfs none /var/cache/ldconfig
ldconfig -X -C "$1/ld.so.cache" $(echo "$2" | tr : ' ')
mount --bind "$1/ld.so.cache" /etc/ld.so.cache
shift 2
exec "$@"
"""


# $1: an empty folder.
STACKED = """\
cd "$1"
mkdir below above working seen
mount -t overlay -o lowerdir=below,upperdir=above,workdir=working none seen
"""


def stacks(folder: Path) -> bool:
    """Whether *folder*, which is empty, can hold images as layers: not on an overlay itself."""
    alone = ("unshare", "--mount", "--propagation", "private", "--")
    stacked = (*alone, "sh", "-ec", STACKED, "sh", str(folder))
    return subprocess.run(stacked, capture_output=True, check=False).returncode == 0


class Buildah:
    """Works in *folder* with the programs of the group `images`; as root.

    There it keeps images: as *layers*, or each as a whole, which works on every file system.

    Dockerfiles are built with `("bud", "--isolation", "chroot", "--pull-never", …)`, on an image
    that was brought in by `("pull", "oci-archive:FILE")`.
    """

    def __init__(self, tools: Path, folder: Path, *, layers: bool = False) -> None:
        self._folder = folder
        self._log = folder / "buildah.log"
        libraries = unpacked.environment(tools)["LD_LIBRARY_PATH"]
        self._outer = [
            "unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child",
            "--", "sh", "-c", CONTAINED, "sh", str(folder), libraries,
        ]  # fmt: skip
        written = {
            "policy.json": TRUST,
            "registries.conf": REGISTRIES,
            "storage.conf": STORAGE.format(driver="overlay" if layers else "vfs", folder=folder),
            "containers.conf": "",
        }
        for name, content in written.items():
            (folder / name).write_text(content)
        # Programs in RUN are given the proxies of this machine, and the image is not.
        proxies = {name: os.environ[name] for name in os.environ if name.lower().endswith("_proxy")}
        self._environment = proxies | {
            "PATH": unpacked.environment(tools)["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "CONTAINERS_CONF": str(folder / "containers.conf"),
            "CONTAINERS_REGISTRIES_CONF": str(folder / "registries.conf"),
            "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
        }

    def __call__(
        self,
        verb: str,
        *arguments: str | Path,
        report: Callable[[], None] | None = None,
    ) -> str:
        """What it says in the end; raises CommandError with the last lines of its log."""
        trusting = {"bud", "commit", "from", "pull", "push"}
        policy = self._folder / "policy.json"
        trust = ("--signature-policy", policy) if verb in trusting else ()
        return commands.read(
            ["buildah", verb, *trust, *arguments],
            log=self._log,
            environment=self._environment,
            within=self._outer,
            report=report,
        ).strip()
