"""What is to stand on a node of ours beside what stands there: pure.

A list of taints is written as a whole, so those of others are in it as they were seen; the server refuses it where the
node is another one by then.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nemutator_common import names

OWN_TAINTS = frozenset({str(names.PRESSURE), str(names.RESERVE), str(names.EMPTYING)})
OWN_LABELS = frozenset({str(names.PLACEMENT_GRADE)})
OWN_ANNOTATIONS = frozenset({str(names.REMOVABLE)})
OWN = OWN_TAINTS | OWN_LABELS | OWN_ANNOTATIONS

LONGEST_WRITERS = 2_000
"""Characters; ours take some hundreds."""

PREFER, NEVER = "PreferNoSchedule", "NoSchedule"


class NotMarkedNodeError(Exception):
    """A node could not be written to."""


@dataclass(frozen=True, slots=True, order=True)
class NodeTaint:
    key: str
    value: str = ""
    effect: str = PREFER
    time_added: str = ""

    @property
    def document(self) -> dict[str, str]:
        found = {
            "key": self.key,
            "value": self.value,
            "effect": self.effect,
            "timeAdded": self.time_added,
        }
        return {name: value for name, value in found.items() if value}


@dataclass(frozen=True, slots=True)
class NodeMarks:
    """By key. A taint has one value and effect."""

    taints: Mapping[str, NodeTaint] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def words(self) -> dict[str, str]:
        """Each as one text, to be compared and counted."""
        return {
            **{key: f"{one.value}:{one.effect}" for key, one in self.taints.items()},
            **self.labels,
            **self.annotations,
        }


NO_MARKS = NodeMarks()


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedNode:
    name: str
    uid: str
    version: str
    taints: tuple[NodeTaint, ...] = ()
    """All, those of others too."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)

    @property
    def writers(self) -> dict[str, str]:
        """By the key of a mark, the namespace of the installation that has written it. What anybody has put there instead
        says nothing."""
        text = self.annotations.get(str(names.MARKED_BY), "")
        pairs = (one.partition("=") for one in text[:LONGEST_WRITERS].split())
        return {key: writer for key, _, writer in pairs if key in OWN and writer}

    @property
    def own(self) -> NodeMarks:
        return NodeMarks(
            {one.key: one for one in self.taints if one.key in OWN_TAINTS},
            {key: value for key, value in self.labels.items() if key in OWN_LABELS},
            {key: value for key, value in self.annotations.items() if key in OWN_ANNOTATIONS},
        )


def differing(standing: NodeMarks, wanted: NodeMarks) -> frozenset[str]:
    """The keys under which something else is to stand, or nothing."""
    before, after = standing.words, wanted.words
    return frozenset(key for key in {*before, *after} if before.get(key) != after.get(key))


def merged(parts: Iterable[NodeMarks]) -> NodeMarks:
    taints: dict[str, NodeTaint] = {}
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    for one in parts:
        taints.update(one.taints)
        labels.update(one.labels)
        annotations.update(one.annotations)
    return NodeMarks(taints, labels, annotations)


def only(marks: NodeMarks, keys: frozenset[str]) -> NodeMarks:
    return NodeMarks(
        {key: one for key, one in marks.taints.items() if key in keys},
        {key: one for key, one in marks.labels.items() if key in keys},
        {key: one for key, one in marks.annotations.items() if key in keys},
    )


def patch_of(
    node: MarkedNode, wanted: NodeMarks, keys: frozenset[str], *, me: str
) -> dict[str, Any]:
    """A merge patch that has *wanted* stand under *keys*, written by the installation *me*, and nothing else changed."""
    patch: dict[str, Any] = {}
    metadata: dict[str, Any] = {}
    for field_name, known, values in (
        ("labels", OWN_LABELS, wanted.labels),
        ("annotations", OWN_ANNOTATIONS, wanted.annotations),
    ):
        changed = {key: values.get(key) for key in sorted(keys & known)}
        if changed:
            metadata[field_name] = changed
    stays = {key: writer for key, writer in node.writers.items() if key not in keys}
    writers = {**stays, **{key: me for key in wanted.words if key in keys}}
    if writers != node.writers:
        said = " ".join(f"{key}={writers[key]}" for key in sorted(writers))
        metadata.setdefault("annotations", {})[str(names.MARKED_BY)] = said or None
    if metadata:
        patch["metadata"] = metadata
    if keys & OWN_TAINTS:
        kept = [one for one in node.taints if one.key not in keys]
        made = [wanted.taints[key] for key in sorted(keys) if key in wanted.taints]
        patch["spec"] = {"taints": [one.document for one in (*kept, *made)]}
    return patch
