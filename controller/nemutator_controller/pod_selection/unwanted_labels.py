"""Which labels the selectors of workloads want pods without, and which pods were let go for ours: pure.

A workload lets go of a pod that its selector does not fit, and makes another one in its place. Where the same is
written into that one as well, this goes on without end.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from nemutator_common import names
from nemutator_common.admission_snapshots import MOST_UNWANTING, UnwantedLabels, UnwantedSnapshot

from nemutator_controller.cluster.owners import workload
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.workload_objects import WatchedWorkload
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import KeyStep
from nemutator_controller.mutations.stamps import parse_stamp

LATELY_S = 60.0
"""A workload lets go of a pod at once. One that it lets go later has got other labels by then, or an owner that went."""

MOST_LET_GO = 1_000
"""Workloads of which it was seen."""

Workload = tuple[str, str, str]
"""Namespace, kind and name."""


@dataclass(slots=True)
class KnownUnwanted:
    _said: dict[tuple[str, str], tuple[Workload, frozenset[str]]] = field(default_factory=dict)
    """What selectors say, by kind and by namespace and name of the object."""
    _learned: dict[Workload, frozenset[str]] = field(default_factory=dict)
    """What pods were let go for, of those whose selectors nobody reads here, such as a ReplicaSet's."""

    def replace(self, kind: str, workloads: Iterable[WatchedWorkload]) -> None:
        """All of *kind* that there are."""
        self._said = {key: said for key, said in self._said.items() if key[0] != kind}
        for each in workloads:
            self.see(kind, each)

    def see(self, kind: str, found: WatchedWorkload) -> bool:
        """One that came or changed; whether that says anything."""
        key = kind, found.metadata.key
        unwanted = found.spec.unwanted_labels
        if not unwanted:
            return self._said.pop(key, None) is not None
        # As admission calls it, which sees no more than the owner's name: a Job of a CronJob counts as that one.
        owner = workload(kind, found.metadata.name, {})
        said = (found.metadata.namespace, *owner), frozenset(unwanted)
        is_new = self._said.get(key) != said
        self._said[key] = said
        return is_new

    def forget(self, kind: str, key: str) -> bool:
        """One that is gone."""
        return self._said.pop((kind, key), None) is not None

    def learn(self, before: Pod, after: Pod, *, now: float) -> Workload | None:
        """A pod that has changed; the workload that has just let it go for labels of ours."""
        owner = before.metadata.controller
        if owner is None or after.metadata.controller is not None:
            return None
        made_at = _moment(after.metadata.creation_timestamp)
        if made_at is None or now - made_at > LATELY_S:
            return None
        added = _added_labels(after.metadata.annotations.get(names.MUTATION, ""))
        metadata = before.metadata
        who = metadata.namespace, *workload(owner.kind, owner.name, metadata.labels)
        known = self._learned.get(who, frozenset())
        # Whose selector is known has said all that it does not want.
        if added <= known or any(said[0] == who for said in self._said.values()):
            return None
        if len(self._learned) >= MOST_LET_GO:
            del self._learned[next(iter(self._learned))]
        self._learned[who] = known | added
        return who

    def told(self) -> UnwantedSnapshot:
        found: dict[Workload, set[str]] = defaultdict(set)
        for who, keys in (*self._said.values(), *self._learned.items()):
            found[who] |= keys
        return UnwantedSnapshot(
            tuple(
                UnwantedLabels(
                    namespace=namespace, owner_kind=kind, owner=name, keys=tuple(sorted(keys))
                )
                for (namespace, kind, name), keys in sorted(found.items())[:MOST_UNWANTING]
            )
        )

    def of(self, who: Workload) -> frozenset[str]:
        said = (keys for owner, keys in self._said.values() if owner == who)
        return self._learned.get(who, frozenset()).union(*said)


def _added_labels(stamp: str) -> frozenset[str]:
    """Keys of labels that we have given to a pod, by its *stamp*."""
    found = parse_stamp(stamp) if stamp else None
    return frozenset(
        last.name
        for edit in (found.edits if found and found.edits else ())
        if not edit.before and edit.after and edit.path.startswith("metadata.labels[")
        if isinstance(last := parse_path(edit.path).steps[-1], KeyStep)
    )


def _moment(text: str) -> float | None:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return None
