"""What is sampled: a process, or everything in a control group and below it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from nemutator_common.profiles.model import SampleLabels

from nemutator_agent.profiler.refusals import ProfileRefused

CONTROLLERS = ("cpuacct", "memory", "pids")
"""The controllers of version 1 that the program knows; the one that counts CPU time comes first."""


@dataclass(frozen=True, slots=True)
class TargetSelection:
    """How the kernel recognises the target."""

    by: Literal["process", "group", "v1_group"]
    id: int
    """A process id, or a control group's: the inode number of its directory."""
    controller: str = ""
    """The controller whose hierarchy a `v1_group` is in."""
    threads: bool = False
    """Whether the threads of a process are told apart."""


@dataclass(frozen=True, slots=True)
class GroupDirectory:
    """A control group in one of the hierarchies that are mounted."""

    directory: str
    controllers: frozenset[str]
    """Those of version 1; empty for version 2."""


@dataclass(frozen=True, slots=True)
class ProcessPlace:
    """The pod and the container that a process is in, by the name of its control group."""

    pod_uid: str = ""
    container: str = ""
    """Its id, as short as its runtime's own tools show it."""

    def labels(self, pid: int) -> SampleLabels:
        known = (("pid", str(pid)), ("pod", self.pod_uid), ("container", self.container))
        return tuple((key, value) for key, value in known if value)


@dataclass(frozen=True, slots=True)
class ResolvedTarget:
    selection: TargetSelection
    processes: tuple[int, ...]
    """The processes that are in it now, as many of them as were looked at."""
    cpu_seconds: Callable[[], float | None]
    """The target's CPU time so far, by the kernel's own counter; None when it cannot be read."""


def by_preference(
    directories: Iterable[GroupDirectory], path: str
) -> tuple[tuple[GroupDirectory, str], ...]:
    """The directories to select by, each with its controller; version 2 first. ProfileRefused.

    On a hybrid machine a group may be there in version 2 and have its processes elsewhere: it is
    for the caller to look which has any.
    """
    known = tuple(directories)
    if not known:
        raise ProfileRefused(
            "gone",
            f"there is no control group {path[:200]!r} on this node",
            remedy="name one as `nemutator topology` shows it",
        )
    wanted = [(one, "") for one in known if not one.controllers]
    wanted += [
        (one, controller)
        for controller in CONTROLLERS
        for one in known
        if controller in one.controllers
    ]
    if not wanted:
        raise ProfileRefused(
            "cgroup",
            f"the control group {path[:200]!r} is in no hierarchy that can be sampled",
            remedy=f"use version 2, or one of the controllers {', '.join(CONTROLLERS)}",
        )
    return tuple(wanted)


def pod_group(paths: Iterable[str], uid: str) -> str:
    """The pod-level group of a pod, among all *paths* that bear its uid.

    A process in a pod may make groups of any name below its own, but not above or beside it: the
    shallowest is kubelet's. Where there are two, one of them is forged.
    """
    by_depth = sorted({*paths}, key=lambda path: (path.count("/"), path))
    if not by_depth:
        raise ProfileRefused(
            "gone",
            f"no process of pod {uid[:64]!r} is running on this node",
            remedy="ask again when it runs",
        )
    if len(by_depth) > 1 and by_depth[0].count("/") == by_depth[1].count("/"):
        raise ProfileRefused(
            "cgroup",
            f"two control groups claim to be pod {uid[:64]!r}: {by_depth[0]} and {by_depth[1]}",
            remedy="profile the one that is meant by its path",
        )
    return by_depth[0]
