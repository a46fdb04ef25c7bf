"""Where control groups are mounted, and which directory a process's group has there.

Version 2 has one hierarchy. Version 1 has one per controller (or few together), and a process may
be in a different group of each. A hybrid machine has both, version 2 without controllers.

In a cgroup namespace, which runtimes give to containers on version 2, the kernel writes all paths as
they are seen from the namespace's own group, `/..` for each step up: `/../../system.slice` (see
cgroup_namespaces(7)). The place of that group gives the places of all others.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from nemutator_agent.usage.cgroup_files import Membership
from nemutator_agent.usage.malformed import MalformedError

USEFUL = frozenset({"cpu", "cpuacct", "memory", "pids", "blkio", "name=systemd"})
"""The controllers of version 1 that count what we report, or show what a process belongs to."""

_OCTAL = re.compile(rb"\\([0-7]{3})")
_OUTSIDE = ".."


@dataclass(frozen=True)
class Hierarchy:
    version: Literal[1, 2]
    controllers: frozenset[str]
    """Those of version 1; empty for version 2, whose groups show themselves what they count."""
    mount: str
    root: str
    """The group that is mounted there: `/` except in a container."""
    own: str = "/"
    """The group that the kernel writes paths from: `/` except in a cgroup namespace."""

    def has(self, membership: Membership) -> bool:
        if self.version == 2:
            return not membership.controllers
        return not self.controllers.isdisjoint(membership.controllers)

    @property
    def extent(self) -> int:
        """How much of it is mounted, for comparison: `/..` is more than `/`, and `/docker/x` less."""
        names = _names(self.root)
        return 2 * names.count(_OUTSIDE) - len(names)

    @property
    def steps_down(self) -> int | None:
        """How deep our namespace's group lies below the mounted one; None when it does not."""
        steps = self.root.count("/..")
        return steps if steps and self.root == "/.." * steps else None

    def seen_from(self, own: str) -> "Hierarchy":
        """The same hierarchy, with *own* as the place of our namespace's group."""
        return replace(self, root=absolute(self.root, own), own=own)

    def directory(self, path: str) -> str | None:
        """The directory of the group at *path*; None when it lies outside of what is mounted."""
        if path == self.root:
            return self.mount
        if not path.startswith(self._below) or _OUTSIDE in path.split("/"):
            return None
        return f"{self.mount}/{path[len(self._below) :]}"

    @cached_property
    def _below(self) -> str:
        return self.root if self.root.endswith("/") else f"{self.root}/"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a process is. *path* names its workload."""

    path: str
    groups: tuple[tuple[Hierarchy, str], ...]
    """Its group in each hierarchy that we know."""


def parse_mountinfo(content: bytes) -> tuple[Hierarchy, ...]:
    """The useful hierarchies that are mounted, each once, version 2 first."""
    found: dict[frozenset[str], Hierarchy] = {}
    for line in content.splitlines():
        fields, dash, source = line.partition(b" - ")
        values, mounted = fields.split(b" "), source.split(b" ")
        if not dash or len(values) < 6 or len(mounted) < 3:
            raise MalformedError("/proc/self/mountinfo: expected ten fields")
        if mounted[0] not in (b"cgroup", b"cgroup2"):
            continue
        version: Literal[1, 2] = 2 if mounted[0] == b"cgroup2" else 1
        options = frozenset(mounted[2].decode("ascii", "replace").split(","))
        controllers = options & USEFUL if version == 1 else frozenset[str]()
        if version == 1 and not controllers:
            continue
        hierarchy = Hierarchy(version, controllers, _path(values[4]), _path(values[3]))
        # Bind mounts show parts of a hierarchy: the largest part is taken.
        if controllers not in found or hierarchy.extent > found[controllers].extent:
            found[controllers] = hierarchy
    return tuple(sorted(found.values(), key=lambda one: (-one.version, sorted(one.controllers))))


def place(memberships: Iterable[Membership], hierarchies: Iterable[Hierarchy]) -> Placement:
    """Find the process's groups, and name its workload by the deepest, which says most.

    On version 1 a runtime may limit only memory, say, and leave the process in the root elsewhere.
    """
    known = tuple(memberships)
    groups = tuple(
        (hierarchy, absolute(membership.path.decode("utf-8", "surrogateescape"), hierarchy.own))
        for hierarchy in hierarchies
        for membership in known
        if hierarchy.has(membership)
    )
    # max() takes the first of equals, and the hierarchy of version 2 comes first.
    return Placement(max((path for _, path in groups), key=_depth, default="/"), groups)


def absolute(path: str, own: str) -> str:
    """*path*, as the kernel writes it for a namespace whose group is *own*, from the machine's root.

    A path that leads above the root stays as it is: then *own* is not known.
    """
    if own == "/":
        return path
    names, above = _names(path), _names(own)
    up = next((at for at, name in enumerate(names) if name != _OUTSIDE), len(names))
    if up > len(above):
        return path
    return "/" + "/".join([*above[: len(above) - up], *names[up:]])


def with_ancestors(path: str) -> tuple[str, ...]:
    """*path* and all groups above it, from the root down."""
    parts = _names(path)
    return ("/", *("/" + "/".join(parts[: depth + 1]) for depth in range(len(parts))))


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name]


def _depth(path: str) -> int:
    return path.rstrip("/").count("/")


def _path(raw: bytes) -> str:
    """mountinfo writes blanks and backslashes as octal numbers."""
    plain = _OCTAL.sub(lambda code: bytes([int(code[1], 8) & 0xFF]), raw)
    return plain.decode("utf-8", "surrogateescape")
