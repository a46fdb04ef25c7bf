"""Running pods and workloads as those who have them follow see them, and why one is not written."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.mutations.decisions import Subject

Workload = tuple[str, str, str]
"""Namespace, kind and name of what makes the pods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedObject:
    """A pod or a workload as the watch shows it."""

    subject: Subject
    """With its uid and the workload that makes it; a workload with itself."""
    version: str
    stamp: str
    """The text of its stamp; empty: it has none."""
    labels: Mapping[str, str]
    """Of a workload they are its own, by which no policy chooses."""
    created: str = ""
    """When, as the API server writes it."""

    def __str__(self) -> str:
        return f"{self.subject.namespace}/{self.subject.name}"

    @property
    def workload(self) -> Workload:
        """As tombstones name it: without kind and name where nothing makes it."""
        return self.subject.namespace, self.subject.owner_kind, self.subject.owner_name


def taken_back(tombstones: Iterable[Tombstone]) -> defaultdict[Workload, frozenset[str]]:
    """The paths that stay taken back, of each workload; none of all others."""
    found: defaultdict[Workload, frozenset[str]] = defaultdict(frozenset)
    for each in tombstones:
        found[each.namespace, each.owner_kind, each.owner_name] |= {each.path}
    return found


class ObjectChangedError(Exception):
    """Somebody has written the object since it was read: it has to be read and planned again."""


class ObjectNotWrittenError(Exception):
    """It stays as it is; the message says why. *again*: only for now."""

    def __init__(self, what: str, *, again: bool) -> None:
        super().__init__(what)
        self.again = again
