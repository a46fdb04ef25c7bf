"""Whose a pod was, by what kube-state-metrics says, and by its own name where that says nothing.

Controllers name pods after themselves: a Deployment's ReplicaSet adds a hash and then five letters, a StatefulSet a
number, all others five letters. They use no vowels, so that no words come about, and a name that people chose is
seldom taken for one of those.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nemutator_controller.cluster.owners import workload
from nemutator_controller.prometheus_answers import PrometheusSeries
from nemutator_controller.sizing.keys import ContainerKey, Requested

_SAFE = "[bcdfghjklmnpqrstvwxz2456789]"
_DEPLOYMENT = re.compile(rf"(?P<name>.+)-{_SAFE}{{6,10}}-{_SAFE}{{5}}")
_STATEFUL_SET = re.compile(r"(?P<name>.+)-[0-9]{1,5}")
_OTHER = re.compile(rf"(?P<name>.+)-{_SAFE}{{5}}")

MOST = 1_000_000

Named = tuple[str, str]
"""Namespace and name."""
Owner = tuple[str, str]
"""Kind and name."""


def owner_by_name(pod: str) -> Owner:
    for pattern, kind in ((_DEPLOYMENT, "Deployment"), (_STATEFUL_SET, "StatefulSet")):
        if found := pattern.fullmatch(pod):
            return kind, found["name"]
    if found := _OTHER.fullmatch(pod):
        return "DaemonSet", found["name"]
    return "Pod", pod


@dataclass(slots=True)
class NamedOwners:
    """A `PodKeys`."""

    pods: dict[Named, Owner] = field(default_factory=dict)
    above: dict[tuple[str, str, str], Owner] = field(default_factory=dict)
    """By namespace, kind and name of what makes pods: who makes that."""

    def of(self, namespace: str, pod: str, container: str) -> ContainerKey | None:
        kind, name = self.pods.get((namespace, pod)) or owner_by_name(pod)
        if (namespace, kind, name) in self.above:
            kind, name = self.above[namespace, kind, name]
        elif kind == "ReplicaSet":
            # Its own name ends with the hash that its pods' names have in the middle.
            kind, name = _replica_set_owner(name)
        else:
            kind, name = workload(kind, name, {})
        return ContainerKey(namespace, kind, name, container)

    def learn_pods(self, found: Iterable[PrometheusSeries]) -> None:
        for series in found:
            labels, namespace = series.labels, _label(series.labels, "namespace")
            pod = _label(labels, "pod")
            kind, name = labels.get("owner_kind", ""), labels.get("owner_name", "")
            # It says <none> of a pod that nobody owns.
            if not namespace or not pod or len(self.pods) >= MOST:
                continue
            is_owned = kind not in ("", "<none>") and name not in ("", "<none>")
            self.pods[namespace, pod] = (kind, name) if is_owned else ("Pod", pod)

    def learn_makers(self, kind: str, label: str, found: Iterable[PrometheusSeries]) -> None:
        """*found* says who made what is of *kind* and named by *label*."""
        for series in found:
            labels, namespace = series.labels, _label(series.labels, "namespace")
            name = labels.get(label, "")
            owner = labels.get("owner_kind", ""), labels.get("owner_name", "")
            if namespace and name and not {"", "<none>"} & set(owner) and len(self.above) < MOST:
                self.above[namespace, kind, name] = owner


def requests_of(
    found: Iterable[PrometheusSeries], owners: NamedOwners
) -> Mapping[ContainerKey, Requested]:
    """What containers request; of several pods of one workload, the one that requests most."""
    cpu: dict[ContainerKey, int] = {}
    memory: dict[ContainerKey, int] = {}
    pods: dict[ContainerKey, set[str]] = {}
    for series in found:
        labels = series.labels
        names = [_label(labels, name) for name in ("namespace", "pod", "container")]
        key = owners.of(*names) if all(names) else None
        value = max(series.values)
        if key is None or not 0 <= value < 1e15:
            continue
        pods.setdefault(key, set()).add(names[1])
        if labels.get("resource") == "cpu":
            cpu[key] = max(cpu.get(key, 0), round(value * 1_000))
        elif labels.get("resource") == "memory":
            memory[key] = max(memory.get(key, 0), round(value))
    return {
        key: Requested(cpu.get(key), memory.get(key), pods=len(pods[key]))
        for key in {*cpu, *memory}
    }


def _label(labels: Mapping[str, str], name: str) -> str:
    """Prometheus puts its own in the place of a scraped one, and calls that by another name."""
    return labels.get(f"exported_{name}") or labels.get(name, "")


def _replica_set_owner(name: str) -> Owner:
    found = re.fullmatch(rf"(?P<name>.+)-{_SAFE}{{6,10}}", name)
    return ("Deployment", found["name"]) if found else ("ReplicaSet", name)
