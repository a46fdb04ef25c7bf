"""What a run has left on the machine, found by its name, and cleaned away.

A run that ends by itself has little left to find; one that was killed has containers, their shims,
cgroups, mounts and an interface. All of these carry the run's id or the path of its directory, so
nothing else is ever touched.
"""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.testbed.running import bridges
from tests.testbed.running.waiting import NotInTimeError, until

MARK = "TESTBED_RUN"
RUNS = "TESTBED_RUNS"
LOCK = "lock"
CGROUPS = Path("/sys/fs/cgroup")
ID = re.compile(r"[0-9a-f]{6}")
CLEAN_S = 60.0


class StillThereError(Exception):
    """Something of a dead run could not be removed."""


def bridge_of(run_id: str) -> str:
    """The interface of a run's pods: at most 15 bytes."""
    return f"nmt{run_id}"


def cgroup_of(run_id: str) -> str:
    """The cgroup above a run's pods, in every hierarchy."""
    return f"nemutator-testbed-{run_id}"


def runs_directory() -> Path:
    """Where this user's runs are: a short path, because sockets lie below it.

    Every run cleans what dead ones have left there, so who looks at a dead one has a folder apart.
    """
    directory = Path(os.environ.get(RUNS) or f"/tmp/nemutator-testbed-{os.geteuid()}")
    with contextlib.suppress(FileExistsError):
        directory.mkdir(mode=0o711)
        directory.chmod(0o711)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise StillThereError(f"{directory} is not a directory of ours alone: remove it")
    return directory


def dead_runs() -> Iterator[Path]:
    """Directories of runs whose process is gone: a live one holds its lock."""
    for directory in sorted(runs_directory().iterdir()):
        if ID.fullmatch(directory.name) and not _is_alive(directory):
            yield directory


def run_held_by(pid: int) -> Path:
    """The one live run that this process keeps."""
    (run,) = (run for run in live_runs() if (run / LOCK).read_text() == str(pid))
    return run


def live_runs() -> Iterator[Path]:
    for directory in sorted(runs_directory().iterdir()):
        if ID.fullmatch(directory.name) and _is_alive(directory):
            yield directory


def _is_alive(directory: Path) -> bool:
    try:
        with (directory / LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except FileNotFoundError:
        return False  # killed while it was made
    return False


def end(directory: Path) -> None:
    """End the process that keeps a live run, and clean what it leaves."""
    # The number is the holder's as long as the lock is held, which live_runs has just seen.
    owner = int((directory / LOCK).read_text() or 0)
    if owner and _is_alive(directory):
        os.kill(owner, signal.SIGTERM)
        until(lambda: not _is_alive(directory), f"process {owner} has ended", within_s=CLEAN_S)
    with nobody_else_begins():
        clean(directory)


@contextlib.contextmanager
def nobody_else_begins() -> Iterator[None]:
    """A run is not dead while it is being made: making and cleaning exclude each other."""
    with (runs_directory() / "begin").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


def clean_dead_runs() -> list[Path]:
    """Clean what dead runs have left; which ones those were."""
    dead = list(dead_runs())
    for directory in dead:
        clean(directory)
    return dead


def clean(directory: Path) -> None:
    """End every process of a run, then take away what it has made; safe to do again."""
    try:
        # Daemons first: they would start again what is ended below them.
        until(lambda: not _kill(marked(directory)), "its daemons ended", within_s=CLEAN_S)
        groups = cgroups(directory.name)
        until(lambda: not _kill(members(groups)), "its containers ended", within_s=CLEAN_S)
        until(lambda: not _remove_cgroups(groups), "its cgroups are gone", within_s=CLEAN_S)
    except NotInTimeError as late:
        raise StillThereError(f"run {directory}: {late}") from None
    for target in reversed(list(mounts_below(directory, _own_mounts()))):
        subprocess.run(["umount", "--lazy", target], check=True)
    bridges.remove(bridge_of(directory.name))
    shutil.rmtree(directory, ignore_errors=True)
    # The lock goes with the rest: a directory that stays is cleaned again, and its rest is named.
    if directory.exists():
        shutil.rmtree(directory)


def marked(directory: Path) -> Iterator[int]:
    """Processes that have the run's name in their environment or work in it, not this one."""
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):
                if run_of(Path("/proc", name)) == directory:
                    yield int(name)


def run_of(process: Path) -> Path | None:
    """The run that a process (its folder in /proc) says that it belongs to."""
    for entry in (process / "environ").read_bytes().split(b"\0"):
        name, _, value = entry.decode(errors="replace").partition("=")
        if name == MARK:
            return Path(value)
    # PostgreSQL writes its titles over its environment.
    work = (process / "cwd").readlink()
    runs = runs_directory()
    return runs / work.relative_to(runs).parts[0] if runs in work.parents else None


def cgroups(run_id: str) -> list[Path]:
    """The run's cgroups of all hierarchies, deepest first."""
    tops = [*CGROUPS.glob(cgroup_of(run_id)), *CGROUPS.glob(f"*/{cgroup_of(run_id)}")]
    return [Path(path) for top in tops for path, _, _ in os.walk(top, topdown=False)]


def members(groups: Iterable[Path]) -> Iterator[int]:
    """Processes in these cgroups; one is named for each hierarchy that it is in."""
    for group in groups:
        with contextlib.suppress(OSError):
            yield from map(int, (group / "cgroup.procs").read_text().split())


def _kill(pids: Iterable[int]) -> bool:
    """Kill them; False when there was nobody."""
    found = False
    for pid in pids:
        found = True
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return found


def _remove_cgroups(groups: Iterable[Path]) -> bool:
    """True when one is still there: an ended process leaves its cgroup a little later."""
    for group in groups:
        with contextlib.suppress(OSError):
            group.rmdir()
    return any(group.exists() for group in groups)


def _own_mounts() -> str:
    return Path("/proc/self/mountinfo").read_text()


def mounts_below(directory: Path, mountinfo: str) -> Iterator[str]:
    """Mount points at and below *directory*, in the order in which they were mounted."""
    for line in mountinfo.splitlines():
        target = _unescape(line.split()[4])
        if Path(target).is_relative_to(directory):
            yield target


def _unescape(field: str) -> str:
    """The kernel writes blanks, tabs, newlines and backslashes of a path as three octal digits."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), field)
