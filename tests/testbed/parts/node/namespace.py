"""The node's own view of the machine's folders: a mount namespace that ends with its processes.

Container engine and kubelet have places to write that no setting moves. In here those are folders
of the run, so that an engine or kubelet of the machine itself is not disturbed, and nothing has to
be unmounted: the last process takes all mounts with it, however it ends.
"""

import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.building.cache import MissingPartError
from tests.testbed.running.run import Run

TRIAL_S = 60.0
# Files of a kubelet whatever its settings: device plugins, results of CNI, links to logs.
COVERED = ("/var/lib", "/var/log")
# What kubelet sets on each machine that it finds otherwise (its container manager says so). It
# reads these instead, and is content: a test must not have a developer's machine reboot on an oops.
KERNEL_SETTINGS: Mapping[str, int] = {
    "vm/overcommit_memory": 1,
    "vm/panic_on_oom": 0,
    "kernel/panic": 10,
    "kernel/panic_on_oops": 1,
    "kernel/keys/root_maxkeys": 1_000_000,
    "kernel/keys/root_maxbytes": 25_000_000,
}


@dataclass(frozen=True, slots=True)
class Namespace:
    """How to start a program in a new one, and how to join the one that a process is in."""

    script: Path

    def new(self, *command: str | Path) -> list[str | Path]:
        return ["unshare", "--mount", "--propagation=private", "--", "sh", self.script, *command]

    @staticmethod
    def of(pid: int, *command: str | Path) -> list[str | Path]:
        return ["nsenter", f"--mount=/proc/{pid}/ns/mnt", "--", *command]


def prepare(run: Run, folder: Path, *, shared: Path) -> Namespace:
    """Make what the mounts need below *folder* and try them; mounts in *shared* reach containers.

    Raises MissingPartError where the machine does not let us mount.
    """
    covers = {covered: folder / covered.strip("/").replace("/", "-") for covered in COVERED}
    for cover in covers.values():
        for part in ("upper", "work"):
            (cover / part).mkdir(mode=0o755, parents=True)
    settings = {
        name: run.file(f"{folder.relative_to(run.directory)}/settings/{name}", f"{value}\n", 0o644)
        for name, value in KERNEL_SETTINGS.items()
    }
    script = folder / "namespace.sh"
    script.write_text(script_of(covers, settings, shared))
    namespace = Namespace(script)
    tried = subprocess.run(
        namespace.new("true"), capture_output=True, text=True, timeout=TRIAL_S, check=False
    )
    if tried.returncode != 0:
        said = tried.stderr.strip().splitlines() or [f"exit code {tried.returncode}"]
        raise MissingPartError(f"no node: its mounts cannot be made here: {said[-1]}")
    return namespace


def script_of(covers: Mapping[str, Path], settings: Mapping[str, Path], shared: Path) -> str:
    """What a shell does in the new namespace before it becomes the program of its arguments."""
    return "".join(f"{line}\n" for line in _lines(covers, settings, shared))


def _lines(covers: Mapping[str, Path], settings: Mapping[str, Path], shared: Path) -> Iterator[str]:
    yield "set -eu"
    # The sockets of containerd's shims are there, whatever its configuration says.
    yield "mount -t tmpfs -o mode=0755 tmpfs /run"
    for covered, cover in covers.items():
        options = f"lowerdir={covered},upperdir={cover}/upper,workdir={cover}/work"
        yield shlex.join(["mount", "-t", "overlay", "-o", options, "overlay", covered])
    for name, file in settings.items():
        yield shlex.join(["mount", "--bind", str(file), f"/proc/sys/{name}"])
    yield shlex.join(["mount", "--bind", str(shared), str(shared)])
    # As on a machine with systemd: else containers may not have mounts propagated, to them or back.
    yield "mount --make-rshared /"
    yield 'exec "$@"'
