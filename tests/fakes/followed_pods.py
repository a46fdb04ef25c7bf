"""Running pods whose metadata follows policies, in memory."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.following.missed import MissedPod
from nemutator_controller.following.records import (
    FollowedObject,
    ObjectChangedError,
    ObjectNotWrittenError,
)
from nemutator_controller.mutations.decisions import Decision, Edit, pod_subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.known_tokens import NOT_READ, KnownTokens
from nemutator_controller.policies.snapshot import InSeason, Policies, snapshot_of

Json = dict[str, Any]


def running_pod(name: str = "web-1", *, namespace: str = "shop", **metadata: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": f"u-{name}", **metadata},
        "spec": {"containers": [{"name": "app", "image": "app:1"}]},
    }


def workload(kind: str = "Deployment", *, labels: Json | None = None) -> Json:
    """Named `web`; its template is that of pods of `app=web`."""
    pod = running_pod("web", labels=labels or {})
    template = {"metadata": {"labels": {"app": "web"}}, "spec": pod["spec"]}
    spec: Json = {"selector": {"matchLabels": {"app": "web"}}, "template": template}
    if kind == "CronJob":
        spec = {"schedule": "@daily", "jobTemplate": {"spec": {"template": template}}}
    return pod | {"apiVersion": "apps/v1", "kind": kind, "spec": spec}


class MemoryFollowedObjects:
    """A `FollowedObjects`; each write gives a pod the next version."""

    def __init__(self, *pods: Json) -> None:
        self.pods: dict[str, tuple[Json, int]] = {
            each["metadata"]["uid"]: (each, 1) for each in pods
        }
        self._changed: set[str] | None = None
        self.looked_at = 0
        self.reads = 0
        self.races = 0
        """Writes that somebody else comes before."""
        self.failure: Exception | None = None
        self.unread: Exception | None = None
        """Why nothing can be read."""
        self.unreadable = ""
        """The name of one that cannot be read while all others can."""
        self.notes: list[str] = []

    def metadata(self, name: str = "web-1") -> Json:
        found: Json = self.pods[f"u-{name}"][0]["metadata"]
        return found

    def put(self, document: Json) -> None:
        uid = document["metadata"]["uid"]
        _, version = self.pods.get(uid, ({}, 0))
        self.pods[uid] = (document, version + 1)
        if self._changed is not None:
            self._changed.add(uid)

    def changed(self) -> Collection[FollowedObject] | None:
        changed, self._changed = self._changed, set()
        return None if changed is None else [self._seen(uid) for uid in sorted(changed)]

    async def everything(self) -> AsyncIterator[FollowedObject]:
        for uid in list(self.pods):
            yield self._seen(uid)

    async def read(self, pod: FollowedObject) -> tuple[Mapping[str, Any], str] | None:
        if self.unread is not None:
            raise self.unread
        if pod.subject.name == self.unreadable:
            raise ObjectNotWrittenError("no answer", again=True)
        self.reads += 1
        found = self.pods.get(pod.subject.uid)
        return None if found is None else (found[0], str(found[1]))

    async def write(
        self, pod: FollowedObject, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        if self.failure is not None:
            raise self.failure
        live, now = self.pods[pod.subject.uid]
        if self.races:
            self.races -= 1
            self.put(live)
            raise ObjectChangedError
        if version != str(now):
            raise ObjectChangedError
        self.put(apply_edits(live, edits, pod.subject.kind))

    def fall_behind(self) -> None:
        """As a watch does that lists everything anew."""
        self._changed = None

    def _seen(self, uid: str) -> FollowedObject:
        self.looked_at += 1
        return _followed(*self.pods[uid])

    def there(self, uids: Collection[str]) -> AbstractSet[str]:
        return self.pods.keys() & set(uids)

    def notify(self, pod: FollowedObject, note: str, *, reason: str = "LiveMetadata") -> None:
        self.notes.append(note)


class CrowdOfPods(MemoryFollowedObjects):
    """Before its pods so many others of another namespace, which nobody ever reads or writes."""

    def __init__(self, *pods: Json, others: int) -> None:
        super().__init__(*pods)
        self.others = others
        self._other = _followed(running_pod("other", namespace="others"), 1)

    async def everything(self) -> AsyncIterator[FollowedObject]:
        for _ in range(self.others):
            self.looked_at += 1
            yield self._other
        async for pod in super().everything():
            yield pod


class MemoryRules:
    """A `FollowedRules`, with specs by name."""

    def __init__(self, **specs: Json) -> None:
        self.policies: Policies | None = None
        self._tokens: tuple[str, KnownTokens | None] = ("", None)
        self.written: dict[str, float] = {}
        self.in_season: InSeason = frozenset()
        self.unwanted: frozenset[str] = frozenset()
        self.services: Mapping[str, Mapping[str, str]] | None = {}
        self.say(**specs)

    def say(self, **specs: Json) -> None:
        self.policies = snapshot_of(specs)

    def know(self, **tokens: str) -> None:
        self._tokens = (repr(tokens), KnownTokens(tokens))

    def know_no_tokens_yet(self) -> None:
        self._tokens = ("", KnownTokens({}, NOT_READ))

    @property
    def tokens(self) -> tuple[str, KnownTokens | None]:
        return self._tokens

    def written_at(self, policy: str) -> float | None:
        return self.written.get(policy)

    def unwanted_labels(self, workload: tuple[str, str, str]) -> frozenset[str]:
        return self.unwanted

    def service_selectors(self, namespace: str) -> Mapping[str, Mapping[str, str]] | None:
        return self.services

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        return {}


class MemoryFollowingJournal:
    """A `FollowingJournal`."""

    def __init__(self) -> None:
        self.decisions: list[Decision] = []
        self.stones: list[Tombstone] = []
        self.is_away = False

    async def add(self, decision: Decision) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")
        self.decisions.append(decision)

    async def tombstones(self) -> Sequence[Tombstone]:
        return self.stones


class MemoryLivePolicies:
    """A `RememberedPolicies`."""

    def __init__(self) -> None:
        self.kept: Mapping[str, float] = {}
        self.is_away = False

    async def all(self) -> Mapping[str, float]:
        return dict(self.kept)

    async def replace(self, remembered: Mapping[str, float]) -> None:
        if self.is_away:
            raise StoreUnavailableError("full")
        self.kept = dict(remembered)


def live(**labels: str) -> Json:
    """A policy that sets *labels*, of running pods too."""
    return {"applyTo": "live", "mode": "Apply", "mutations": [{"labels": {"set": labels}}]}


def _followed(document: Json, version: int) -> FollowedObject:
    metadata, kind = document["metadata"], document["kind"]
    stamp = (metadata.get("annotations") or {}).get(names.MUTATION, "")
    subject = pod_subject(metadata["namespace"], metadata["name"], metadata["uid"])
    if kind != "Pod":
        subject = replace(
            subject, api_version="apps/v1", kind=kind, owner_kind=kind, owner_name=subject.name
        )
    return FollowedObject(
        subject=subject,
        version=str(version),
        stamp=stamp,
        labels=metadata.get("labels") or {},
        created=metadata.get("creationTimestamp", ""),
    )


class MemoryMissedEvictions:
    """A `MissedEvictions`."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.takes = True

    async def ask(self, pod: FollowedObject, reason: str) -> bool:
        if self.takes:
            self.asked.append(str(pod))
        return self.takes


def missed_pod(
    name: str = "web-1",
    *,
    namespace: str = "shop",
    created: str = "2023-11-14T22:13:20Z",
    **changed: Any,
) -> MissedPod:
    subject = pod_subject(namespace, name, f"u-{namespace}-{name}")
    pod = FollowedObject(subject=subject, version="1", stamp="", labels={}, created=created)
    said: Json = {"policies": ("team",), "is_required": False, "noticed_at": 1_700_000_003.0}
    return MissedPod(pod=pod, **said | changed)
