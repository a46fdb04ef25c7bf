"""Running pods that are resized, in memory, with a kubelet that does as it is told."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.kube.quantities import parse_quantity
from nemutator_controller.mutations.decisions import Decision, Edit
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.qos import amounts
from nemutator_controller.mutations.stamps import stamp_text
from nemutator_controller.updating.model import SoundSizing, sizing_of
from nemutator_controller.updating.node_room import PodNeeds, lacking
from nemutator_controller.updating.records import (
    RESOURCES,
    AmountAdvice,
    ContainerAdvice,
    NotResizedError,
    PodChangedError,
    PodSurroundings,
    ResourceName,
    SizedContainer,
    SizedPod,
    SizedWorkload,
)

Json = dict[str, Any]

WEB: SizedWorkload = ("shop", "Deployment", "web")


def pod_document(name: str = "web-1", **resources: Json) -> Json:
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": f"u-{name}"},
        "spec": {"containers": [{"name": "app", "resources": resources}]},
    }


def pod_of(document: Json, *, created_at: float = 0.0, workload: SizedWorkload = WEB) -> SizedPod:
    meta = document["metadata"]
    return SizedPod(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        node="one",
        workload=workload,
        created_at=created_at,
        containers=tuple(
            SizedContainer(
                name=each["name"],
                requests=amounts(each, "requests"),
                limits=amounts(each, "limits"),
            )
            for each in document["spec"]["containers"]
        ),
        manifest=document,
        stamp=next(iter(stamp_text(document, "Pod")), ""),
    )


def firm(last_at: float = 1e9, **wanted: str) -> ContainerAdvice:
    found: dict[ResourceName, AmountAdvice] = {}
    for name in RESOURCES:
        if name in wanted:
            found[name] = AmountAdvice(target=parse_quantity(wanted[name]))
    return ContainerAdvice(is_firm=True, reason="", last_at=last_at, amounts=found)


class MemorySizedPods:
    """A `SizedPods`; each write gives a pod the next version."""

    def __init__(self, *documents: Json) -> None:
        self.documents = {each["metadata"]["uid"]: each for each in documents}
        self.versions = dict.fromkeys(self.documents, 1)
        self.created_at = 0.0
        self.surroundings: PodSurroundings | None = PodSurroundings()
        self.states: dict[str, Any] = {}
        self.notes: list[str] = []
        self.refusal: NotResizedError | None = None
        """Of any resize, a rehearsed one too."""
        self.late_refusal: NotResizedError | None = None
        """Of one that is made."""
        self.budget: NotResizedError | None = None
        """Of any eviction."""
        self.largest_node: dict[str, Any] = {}
        """What it has for pods; of what is not named, enough."""
        self.races = 0
        """Writes that kubelet comes before."""

    async def now(self) -> Sequence[SizedPod] | None:
        return [self._seen(uid) for uid in self.documents]

    def around(self, pod: SizedPod) -> PodSurroundings | None:
        return self.surroundings

    async def read(self, pod: SizedPod) -> tuple[SizedPod, Mapping[str, Any], str] | None:
        if pod.uid not in self.documents:
            return None
        return self._seen(pod.uid), self.documents[pod.uid], str(self.versions[pod.uid])

    async def rehearse(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        if self.refusal is not None:
            raise self.refusal

    async def resize(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        await self.rehearse(pod, document, version, edits)
        if self.late_refusal is not None:
            raise self.late_refusal
        self._write(pod, version, edits)

    async def stamp(
        self, pod: SizedPod, document: Mapping[str, Any], version: str, edit: Edit
    ) -> tuple[Mapping[str, Any], str]:
        self._write(pod, version, [edit])
        return self.documents[pod.uid], str(self.versions[pod.uid])

    async def evict(self, pod: SizedPod) -> None:
        """It is a `PodEvictor`, too."""
        if self.budget is not None:
            raise self.budget
        del self.documents[pod.uid]

    def has_room(self, needs: PodNeeds) -> bool:
        return not lacking(needs, self.largest_node)

    def notify(self, pod: SizedPod, note: str, *, warning: bool = False) -> None:
        self.notes.append(note)

    def requests(self, name: str = "web-1") -> Json:
        found: Json = self.documents[f"u-{name}"]["spec"]["containers"][0]["resources"]["requests"]
        return found

    def write(self, name: str, edit: Edit) -> None:
        """As somebody else does."""
        uid = f"u-{name}"
        self.documents[uid] = apply_edits(self.documents[uid], [edit], "Pod")
        self.versions[uid] += 1

    def _write(self, pod: SizedPod, version: str, edits: Sequence[Edit]) -> None:
        if self.races:
            self.races -= 1
            self.versions[pod.uid] += 1
        if str(self.versions[pod.uid]) != version:
            raise PodChangedError("the pod has another version")
        self.documents[pod.uid] = apply_edits(self.documents[pod.uid], edits, "Pod")
        self.versions[pod.uid] += 1

    def _seen(self, uid: str) -> SizedPod:
        pod = pod_of(self.documents[uid], created_at=self.created_at)
        return replace(pod, state=self.states.get(uid, ""))


class MemorySizings:
    """A `KnownSizings`."""

    def __init__(self, **specs: Json) -> None:
        self.policies = [sizing_of(name, specs[name]) for name in sorted(specs)]
        self.seasonal: frozenset[str] = frozenset()

    def sound(self) -> Sequence[SoundSizing] | None:
        return self.policies

    def faulty(self) -> Mapping[str, str]:
        return {}

    def in_season(self) -> frozenset[str]:
        return self.seasonal


class MemoryAdvice:
    """A `GivenAdvice` for one workload."""

    def __init__(self, **containers: ContainerAdvice) -> None:
        self.containers = containers

    async def now(self) -> Mapping[SizedWorkload, Mapping[str, ContainerAdvice]]:
        return {WEB: self.containers}


class MemorySizingJournal:
    """A `SizingJournal`."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.buried: list[Tombstone] = []

    async def add(self, decision: Decision) -> None:
        self.decisions.append(decision)

    async def tombstones(self) -> Sequence[Tombstone]:
        return self.buried


class Replicas:
    """A `ProvenWebhook`."""

    def __init__(self) -> None:
        self.alive = True

    def is_alive(self) -> bool:
        return self.alive
