"""The cgroup of a run, above those of its pods, in every hierarchy that the machine has."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.testbed.building.cache import MissingPartError
from tests.testbed.running.leftovers import CGROUPS, cgroup_of
from tests.testbed.running.run import Run

# Without these in the one hierarchy of version 2 kubelet does not start.
NEEDED = frozenset({"cpu", "cpuset", "memory", "pids"})


@dataclass(frozen=True, slots=True)
class Hierarchy:
    path: Path
    controllers: frozenset[str]
    """Of version 1 by its mount options; of version 2, whose files say it, none."""
    unified: bool


def hierarchies(mountinfo: str) -> Iterator[Hierarchy]:
    """The mounts of cgroups where kubelet looks for them, once each."""
    seen = set[Path]()
    for line in mountinfo.splitlines():
        mount, _, source = line.partition(" - ")
        path = Path(mount.split()[4])
        kind, _, options = source.split(maxsplit=2)
        if kind not in {"cgroup", "cgroup2"} or path in seen or not path.is_relative_to(CGROUPS):
            continue
        seen.add(path)
        named = frozenset(options.split(",")) - {"rw"}
        unified = kind == "cgroup2"
        yield Hierarchy(path, frozenset() if unified else named, unified)


def make(run: Run) -> str:
    """Make the run's cgroup everywhere; how kubelet names it. `leftovers` removes it with the run.

    Raises MissingPartError where cgroups are not ours to make.
    """
    found = list(hierarchies(Path("/proc/self/mountinfo").read_text()))
    if not found:
        raise MissingPartError(f"no node: no cgroups are mounted in {CGROUPS}")
    try:
        for hierarchy in found:
            _make(hierarchy, hierarchy.path / cgroup_of(run.id))
    except OSError as refused:
        raise MissingPartError(f"no node: cgroups cannot be made here: {refused}") from None
    if all(hierarchy.unified for hierarchy in found):
        _check_controllers(found[0].path / cgroup_of(run.id))
    return f"/{cgroup_of(run.id)}"


def _make(hierarchy: Hierarchy, folder: Path) -> None:
    folder.mkdir()
    if "cpuset" in hierarchy.controllers:
        # A new one has none, and takes no process before it has some.
        for name in ("cpuset.cpus", "cpuset.mems"):
            (folder / name).write_text((hierarchy.path / name).read_text())


def _check_controllers(folder: Path) -> None:
    has = frozenset((folder / "cgroup.controllers").read_text().split())
    if missing := sorted(NEEDED - has):
        raise MissingPartError(
            f"no node: {CGROUPS} gives its children no {' '.join(missing)} "
            f"(cgroup.subtree_control), which kubelet needs"
        )
