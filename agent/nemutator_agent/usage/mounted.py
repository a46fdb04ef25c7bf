"""The hierarchies that are mounted here, with the place of our own cgroup namespace in them.

In a cgroup namespace the kernel does not say where that lies, only how deep. But where all of the
machine's groups are mounted, as for our DaemonSet, our own group is the one that lists our process.
"""

import os
from collections.abc import Iterator

from nemutator_agent.usage.cached_files import read_once
from nemutator_agent.usage.cgroup_files import parse_memberships
from nemutator_agent.usage.hierarchies import Hierarchy, parse_mountinfo
from nemutator_agent.usage.malformed import MalformedError

MOST_LOOKED_AT = 20_000
"""The most groups of one depth in each hierarchy: ten times as many as a full node has."""


def mounted_hierarchies(*, root: str = "") -> tuple[Hierarchy, ...]:
    """*root* is for tests, which bring trees of their own."""
    found = parse_mountinfo(read_once(f"{root}/proc/self/mountinfo") or b"")
    if all(hierarchy.steps_down is None for hierarchy in found):
        return found
    below = _below_our_namespace(found, read_once(f"{root}/proc/self/cgroup") or b"")
    return tuple(_placed(hierarchy, below.get(hierarchy, ""), root) for hierarchy in found)


def _below_our_namespace(
    hierarchies: tuple[Hierarchy, ...], content: bytes
) -> dict[Hierarchy, str]:
    """Our place in each hierarchy, seen from our namespace's group, which is the empty text itself."""
    try:
        memberships = parse_memberships(content)
    except MalformedError:
        return {}
    return {
        hierarchy: os.fsdecode(membership.path).rstrip("/")
        for hierarchy in hierarchies
        for membership in memberships
        if hierarchy.has(membership)
    }


def _placed(hierarchy: Hierarchy, below: str, root: str) -> Hierarchy:
    if hierarchy.steps_down is None:
        return hierarchy
    us = b"%d" % os.getpid()
    directory = f"{root}{hierarchy.mount}"
    for number, own in enumerate(_groups(directory, hierarchy.steps_down)):
        if number >= MOST_LOOKED_AT:
            break
        if us in (read_once(f"{directory}{own}{below}/cgroup.procs") or b"").split():
            return hierarchy.seen_from(own)
    # A group hides the processes of other pid namespaces: then paths stay as they are written, and
    # the report says how many processes have no place.
    return hierarchy


def _groups(directory: str, depth: int) -> Iterator[str]:
    """The paths of all groups so deep below *directory*."""
    if depth == 0:
        yield ""
        return
    try:
        entries = sorted(
            entry.name for entry in os.scandir(directory) if entry.is_dir(follow_symlinks=False)
        )
    except OSError:
        return
    for name in entries:
        for rest in _groups(f"{directory}/{name}", depth - 1):
            yield f"/{name}{rest}"
