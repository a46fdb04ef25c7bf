"""Control groups of a test's own, in each hierarchy that this machine has."""

import contextlib
import re
import uuid
from collections.abc import Iterator
from pathlib import Path

from nemutator_agent.profiler.targets import CONTROLLERS


def mounted() -> list[tuple[str, str]]:
    """The hierarchies of this machine that can be sampled: version, and where."""
    shape = r" (/\S+) \S+(?: \S+)* - (cgroup2?) \S+ (\S+)$"
    found = []
    for mount, kind, options in re.findall(
        shape, Path("/proc/self/mountinfo").read_text(), re.MULTILINE
    ):
        if kind == "cgroup2":
            found.append(("v2", mount))
        else:
            found += [(one, mount) for one in CONTROLLERS if one in options.split(",")]
    return found


def move(pid: int, directory: str) -> None:
    Path(directory, "cgroup.procs").write_text(str(pid))


@contextlib.contextmanager
def group_of(mount: str, *pids_and_names: tuple[str, int]) -> Iterator[str]:
    """A group with one below it: each process in the one that is named."""
    path = Path(f"/nemutator-e2e-{uuid.uuid4().hex[:8]}")
    top = Path(mount + str(path))
    folders = [top, *{top / name for name, _ in pids_and_names if name}]
    for folder in folders:
        folder.mkdir()
    try:
        for name, pid in pids_and_names:
            move(pid, str(top / name))
        yield str(path)
    finally:
        for folder in reversed(folders):
            for line in (folder / "cgroup.procs").read_text().split():
                move(int(line), mount)
            folder.rmdir()
