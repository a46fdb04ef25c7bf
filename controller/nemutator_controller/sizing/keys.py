"""The key of a container's use, and what the container requests: both outlive its pods."""

from dataclasses import dataclass

from nemutator_common.wire import Summary

SHORT_ID = 12
"""Characters of a container's id that its runtime's own tools show."""

PROGRAM = "program"
"""Processes of one name in one group."""

_UNITS = (".service", ".scope", ".socket", ".mount", ".swap")


@dataclass(frozen=True, slots=True, order=True)
class ContainerKey:
    namespace: str
    owner_kind: str
    """`Deployment`, `StatefulSet`, …; outside of a cluster `unit`, `container`, `group`,
    or `program` where no group counts CPU time."""
    owner: str
    container: str
    """Its name in the pod; `-` outside of a cluster."""


@dataclass(frozen=True, slots=True)
class Requested:
    """What a container requests now; None where it requests nothing."""

    cpu_millis: int | None
    memory_bytes: int | None


class ByPath:
    """`UsageOwners` for machines outside of a cluster, where a cgroup's path is all that is known.

    The namespace is the path's first element, as everywhere off clusters. Groups of one name in one
    namespace are one owner, as the pods of one Deployment are.
    """

    def of(self, node: str, summary: Summary) -> ContainerKey | None:
        parts = [part for part in summary.path.split("/") if part]
        if summary.program is not None:
            return ContainerKey(parts[0] if parts else "/", PROGRAM, summary.program or "-", "-")
        if not parts:
            return None
        if summary.container_id is not None:
            kind, owner = "container", summary.container_id[:SHORT_ID]
        else:
            kind, owner = ("unit" if parts[-1].endswith(_UNITS) else "group"), parts[-1]
        return ContainerKey(parts[0], kind, owner, "-")
