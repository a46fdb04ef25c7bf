"""What seasons ask of the cluster or of the data directory, and what they give to other features."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nemutator_common.admission_snapshots import Tombstone

from nemutator_controller.app.cluster import Cluster
from nemutator_controller.app.following import BrainJournal
from nemutator_controller.cluster.watching import ClusterWatch
from nemutator_controller.ingest.usage_points import Series
from nemutator_controller.journal.live_objects import (
    ChangedError,
    LiveObject,
    ObjectRefusedError,
    UnreachableError,
)
from nemutator_controller.journal.ports import Manifests, Objects
from nemutator_controller.kube.informing import Informer, NotSyncedError
from nemutator_controller.kube.objects import Pod
from nemutator_controller.kube.store import Change
from nemutator_controller.kube.subscribing import Resync
from nemutator_controller.mutations.decisions import Edit, Subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.path_texts import parse_path
from nemutator_controller.mutations.paths import SWITCHED, value_at
from nemutator_controller.policies import model as mutation_model
from nemutator_controller.policies.model import PolicyError
from nemutator_controller.policies.season_policies import (
    SEASON_KIND,
    SoundBrain,
    season_policy_of,
)
from nemutator_controller.policies.snapshot import snapshot_of
from nemutator_controller.policies.time_windows import When
from nemutator_controller.seasons.day_book import CLUSTER
from nemutator_controller.seasons.learning import OwnedScope
from nemutator_controller.seasons.records import (
    IN_FORCE,
    PodStep,
    PolicyKind,
    SeasonedPolicy,
)
from nemutator_controller.seasons.switching import SeasonSwitching
from nemutator_controller.sizing.keys import PROGRAM, ByPath
from nemutator_controller.updating import model as sizing_model

MOST_BRAINS = 100
MOST_WAITING = 10_000
"""Changes of pods that wait to be looked at: of more the starts are not measured."""


@dataclass(frozen=True, slots=True)
class ScopesOfPods:
    """The workloads of a cluster's pods: all of their containers together."""

    watch: ClusterWatch

    def of(self, node: str, series: Series) -> OwnedScope | None:
        placed = self.watch.of(node, series.pod_uid, series.container_id)
        if placed is None or placed.container is None or series.program is not None:
            return None
        return (placed.namespace, placed.owner.kind, placed.owner.name), True


@dataclass(frozen=True, slots=True)
class ScopesByPath:
    """The groups of a machine that stands alone; groups within groups count once in the sum of all."""

    def of(self, node: str, series: Series) -> OwnedScope | None:
        key = ByPath().of(node, series)
        if key is None:
            return None
        is_outermost = series.program is None and series.path.strip("/").count("/") == 0
        return (key.namespace, key.owner_kind, key.owner), is_outermost or key.owner_kind == PROGRAM


@dataclass(frozen=True, slots=True)
class PodSteps:
    """The `StartingPods`."""

    watch: ClusterWatch

    async def steps(self) -> AsyncIterator[PodStep]:
        with self.watch.pods.subscribe("start times", capacity=MOST_WAITING) as subscription:
            async for change in subscription:
                # Of what was missed nobody saw the creation.
                if not isinstance(change, Resync) and (step := self._step(change)) is not None:
                    yield step

    def _step(self, change: Change[Pod]) -> PodStep | None:
        before, after = change.before, change.after
        if after is None:
            if before is None:
                return None
            return PodStep(uid=before.metadata.uid, scope=CLUSTER, is_gone=True)
        is_ready, meta = after.status.is_ready, after.metadata
        if before is not None and before.status.is_ready == is_ready:
            return None
        snapshot = self.watch.snapshot()
        if snapshot is None:
            return None
        owner = snapshot.owner(after)
        return PodStep(
            uid=meta.uid,
            scope=(meta.namespace, owner.kind, owner.name),
            is_new=before is None,
            is_ready=is_ready,
        )


@dataclass(slots=True)
class ClusterSeasoned:
    """The `SeasonedPolicies` of a cluster."""

    cluster: Cluster
    brains: Sequence[SoundBrain] = field(default=(), init=False)
    faulty: Mapping[str, str] = field(default_factory=dict, init=False)

    async def sound(self) -> Sequence[SeasonedPolicy] | None:
        mutation = _specs(self.cluster.policies)
        sizing, brains = (
            _specs(informer)
            for informer in (self.cluster.sizing_policies, self.cluster.season_policies)
        )
        if mutation is None:
            return None
        self.brains, self.faulty = _brains(brains or {})
        return [*_seasoned(mutation, sizing or {}), *map(_of_brain, self.brains)]


@dataclass(slots=True)
class ManifestSeasoned:
    """The `SeasonedPolicies` off clusters, where policies are files."""

    manifests: Manifests
    brains: Sequence[SoundBrain] = field(default=(), init=False)
    faulty: Mapping[str, str] = field(default_factory=dict, init=False)

    async def sound(self) -> Sequence[SeasonedPolicy] | None:
        try:
            mutation = await self._specs(mutation_model.KIND)
            brains = await self._specs(SEASON_KIND)
        except (ObjectRefusedError, UnreachableError):
            return None
        self.brains, self.faulty = _brains(brains)
        return [*_seasoned(mutation, {}), *map(_of_brain, self.brains)]

    async def _specs(self, kind: str) -> Mapping[str, Any]:
        found = await self.manifests.all(kind)
        return {live.subject.name: live.document.get("spec") for live in found}


def _specs(informer: Informer[Any]) -> Mapping[str, Any] | None:
    try:
        found = informer.snapshot().objects.values()
    except NotSyncedError:
        return None
    return {one.metadata.name: one.spec for one in found}


def _seasoned(mutation: Mapping[str, Any], sizing: Mapping[str, Any]) -> list[SeasonedPolicy]:
    found: list[SeasonedPolicy] = []
    with_seasons = {name: spec for name, spec in mutation.items() if _names_seasons(spec)}
    for policy in snapshot_of(with_seasons).sound:
        if policy.spec.when is not None:
            found.append(seasoned("MutationPolicy", policy.name, policy.spec.when))
    for name, spec in sizing.items():
        if not _names_seasons(spec):
            continue
        try:
            when = sizing_model.sizing_of(name, spec).spec.when
        except PolicyError:
            continue
        if when is not None:
            found.append(seasoned("SizingPolicy", name, when))
    return found


def _names_seasons(spec: Any) -> bool:
    when = spec.get("when") if isinstance(spec, dict) else None
    return isinstance(when, dict) and bool(when.get("season"))


def _brains(specs: Mapping[str, Any]) -> tuple[Sequence[SoundBrain], Mapping[str, str]]:
    sound: list[SoundBrain] = []
    faulty: dict[str, str] = {}
    for name in sorted(specs):
        if len(sound) >= MOST_BRAINS:
            faulty[name] = f"more than {MOST_BRAINS} SeasonPolicies: merge some"
            continue
        try:
            sound.append(season_policy_of(name, specs[name]))
        except PolicyError as error:
            faulty[name] = str(error)
    return sound, faulty


def _of_brain(brain: SoundBrain) -> SeasonedPolicy:
    return seasoned("SeasonPolicy", brain.name, brain.spec.when)


def seasoned(kind: PolicyKind, name: str, when: When) -> SeasonedPolicy:
    of = CLUSTER if when.of is None else (when.of.namespace, when.of.kind, when.of.name)
    return SeasonedPolicy(kind=kind, name=name, seasons=when.season, of=of)


@dataclass(frozen=True, slots=True)
class SwitchJournalOfBrain:
    """The `SwitchJournal`."""

    journal: BrainJournal

    async def add(self, decision: Any) -> None:
        await self.journal.add(decision)
        await self.journal.journal.seen(decision.id, name=decision.subject.name, uid="")

    async def tombstones(self) -> Sequence[Tombstone]:
        return await self.journal.tombstones()

    async def forget(self, gone: Sequence[Tombstone]) -> int:
        return await self.journal.journal.forget(gone)


@dataclass(frozen=True, slots=True)
class ObjectsAndSwitches:
    """`Objects`, where a policy is what its season has made of it: so a switch is taken back like a mutation."""

    objects: Objects
    switching: SeasonSwitching
    leads: Callable[[], bool]

    @property
    def running(self) -> bool:
        return self.objects.running

    async def get(self, subject: Subject) -> LiveObject | None:
        if subject.kind not in SWITCHED:
            return await self.objects.get(subject)
        known = next(
            (
                one
                for one in self.switching.switches.values()
                if (one.kind, one.name) == (subject.kind, subject.name)
            ),
            None,
        )
        if known is None:
            return None
        word = "true" if known.in_force else "false"
        path = parse_path(IN_FORCE)
        document: Mapping[str, Any] = {
            "apiVersion": subject.api_version,
            "kind": subject.kind,
            "metadata": {"name": subject.name, "annotations": {path.steps[-1].name: word}},
            "spec": {},
        }
        return LiveObject(
            subject=replace(subject, uid=""), document=document, version=f"{known.since}{word}"
        )

    async def find(self, subject: Subject, decision: str) -> LiveObject | None:
        return await self.objects.find(subject, decision)

    async def write(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> LiveObject:
        subject = live.subject
        if subject.kind not in SWITCHED:
            return await self.objects.write(live, edits, resize=resize)
        if not self.leads():
            # Whoever switches goes by what it knows itself.
            raise UnreachableError("this brain does not lead, and another one switches by seasons")
        now = await self.get(subject)
        if now is None or now.version != live.version:
            raise ChangedError("its season has switched it meanwhile")
        after = apply_edits(live.document, _switches(edits), subject.kind)
        word = value_at(after, parse_path(IN_FORCE), subject.kind)
        kind: Any = subject.kind
        await self.switching.hold((kind, subject.name), in_force=word == ("true",))
        found = await self.get(subject)
        return live if found is None else found

    async def rehearse(self, live: LiveObject, edits: Sequence[Edit], *, resize: bool) -> None:
        if live.subject.kind not in SWITCHED:
            await self.objects.rehearse(live, edits, resize=resize)

    async def evict(self, live: LiveObject) -> None:
        await self.objects.evict(live)


def _switches(edits: Iterable[Edit]) -> list[Edit]:
    return [edit for edit in edits if edit.path == IN_FORCE]
