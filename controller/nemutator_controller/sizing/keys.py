"""The key of a container's use, and what the container requests: both outlive its pods."""

import hashlib
import re
from dataclasses import dataclass

import msgspec

from nemutator_controller.ingest.usage_points import Series

SHORT_ID = 12
"""Characters of a container's id that its runtime's own tools show."""

PROGRAM = "program"
"""Processes of one name in one group."""

Workload = tuple[str, str, str]
"""Namespace, kind and name."""

_USER_MANAGER = re.compile(r"user@\d+\.service")
_UNITS = (".service", ".scope", ".socket", ".mount", ".swap")


# A Struct: with 100 000 of them, to find each once is a tenth of the time that all advice takes.
class ContainerKey(msgspec.Struct, frozen=True, order=True, gc=False, cache_hash=True):
    namespace: str
    owner_kind: str
    """`Deployment`, `StatefulSet`, …; outside of a cluster `unit`, `container`, `group`,
    or `program` where no group counts CPU time."""
    owner: str
    container: str
    """Its name in the pod; `-` outside of a cluster."""


def is_of(workload: str | None, kind: str, name: str) -> bool:
    """Whether *workload*, KIND/NAME or a name, is the owner of this *kind* and *name*; None is every one. People write a kind as
    kubectl takes it."""
    if workload is None or workload == name:
        return True
    asked, _, rest = workload.partition("/")
    return rest == name and asked.lower() == kind.lower()


def replica_number(node: str, series: Series) -> int:
    """Which it is of those that are of the same key, a pod, or a group on one machine: the same after a restart of the brain,
    and of the container; above 0."""
    name = series.pod_uid or f"{node}\0{series.path}\0{series.program}"
    digest = hashlib.blake2b(name.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1 or 1


@dataclass(frozen=True, slots=True)
class Requested:
    """What a container requests now; None where it requests nothing."""

    cpu_millis: int | None
    memory_bytes: int | None
    pods: int = 1
    """That run, of its workload."""


def _is_unit(parts: list[str]) -> bool:
    """Whether a systemd has made the group at the end. What a unit makes below its own may have any name, and would
    be taken for the unit that has it; but there are those of a user's systemd."""
    return parts[-1].endswith(_UNITS) and not any(
        part.endswith(_UNITS) and not _USER_MANAGER.fullmatch(part) for part in parts[:-1]
    )


class ByPath:
    """The owners of series on machines outside of a cluster, where a cgroup's path is all that is known.

    The namespace is the path's first element, as everywhere off clusters. Groups of one name in one
    namespace are one owner, as the pods of one Deployment are.
    """

    def of(self, node: str, series: Series) -> ContainerKey | None:
        parts = [part for part in series.path.split("/") if part]
        if series.program is not None:
            return ContainerKey(parts[0] if parts else "/", PROGRAM, series.program or "-", "-")
        if not parts:
            return None
        if series.container_id is not None:
            kind, owner = "container", series.container_id[:SHORT_ID]
        else:
            kind, owner = ("unit" if _is_unit(parts) else "group"), parts[-1]
        return ContainerKey(parts[0], kind, owner, "-")
