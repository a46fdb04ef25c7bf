"""Running pods whose metadata follows policies, in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from nemutator_common import names
from nemutator_common.admission_snapshots import Tombstone
from nemutator_controller.database.failures import StoreUnavailableError
from nemutator_controller.following.records import FollowedPod, PodChangedError
from nemutator_controller.mutations.decisions import Decision, Edit, pod_subject
from nemutator_controller.mutations.edits import apply_edits
from nemutator_controller.mutations.known_tokens import KnownTokens
from nemutator_controller.policies.snapshot import Policies, snapshot_of

Json = dict[str, Any]


def running_pod(name: str = "web-1", **metadata: Json) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": f"u-{name}", **metadata},
        "spec": {"containers": [{"name": "app", "image": "app:1"}]},
    }


class MemoryFollowedPods:
    """A `FollowedPods`; each write gives a pod the next version."""

    def __init__(self, *pods: Json) -> None:
        self.pods: dict[str, tuple[Json, int]] = {
            each["metadata"]["uid"]: (each, 1) for each in pods
        }
        self.reads = 0
        self.races = 0
        """Writes that somebody else comes before."""
        self.failure: Exception | None = None
        self.notes: list[str] = []

    def metadata(self, name: str = "web-1") -> Json:
        found: Json = self.pods[f"u-{name}"][0]["metadata"]
        return found

    def put(self, document: Json) -> None:
        uid = document["metadata"]["uid"]
        self.pods[uid] = (document, self.pods[uid][1] + 1)

    async def now(self) -> Sequence[FollowedPod] | None:
        return [_followed(document, version) for document, version in self.pods.values()]

    async def read(self, pod: FollowedPod) -> tuple[Mapping[str, Any], str] | None:
        self.reads += 1
        found = self.pods.get(pod.subject.uid)
        return None if found is None else (found[0], str(found[1]))

    async def write(
        self, pod: FollowedPod, document: Mapping[str, Any], version: str, edits: Sequence[Edit]
    ) -> None:
        if self.failure is not None:
            raise self.failure
        live, now = self.pods[pod.subject.uid]
        if self.races:
            self.races -= 1
            self.put(live)
            raise PodChangedError
        if version != str(now):
            raise PodChangedError
        self.put(apply_edits(live, edits, "Pod"))

    def notify(self, pod: FollowedPod, note: str) -> None:
        self.notes.append(note)


class MemoryRules:
    """A `FollowedRules`, with specs by name."""

    def __init__(self, **specs: Json) -> None:
        self.policies: Policies | None = None
        self._tokens: tuple[str, KnownTokens | None] = ("", None)
        self.say(**specs)

    def say(self, **specs: Json) -> None:
        self.policies = snapshot_of(specs)

    def know(self, **tokens: str) -> None:
        self._tokens = (repr(tokens), KnownTokens(tokens))

    @property
    def tokens(self) -> tuple[str, KnownTokens | None]:
        return self._tokens

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


def live(**labels: str) -> Json:
    """A policy that sets *labels*, of running pods too."""
    return {"applyTo": "live", "mode": "Apply", "mutations": [{"labels": {"set": labels}}]}


def _followed(document: Json, version: int) -> FollowedPod:
    metadata = document["metadata"]
    stamp = (metadata.get("annotations") or {}).get(names.MUTATION, "")
    return FollowedPod(
        subject=pod_subject(metadata["namespace"], metadata["name"], metadata["uid"]),
        version=str(version),
        stamp=stamp,
        labels=metadata.get("labels") or {},
    )
