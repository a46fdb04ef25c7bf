"""A cluster in which somebody installs: the fake API server, asked by the real client, and controllers that obey."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from nemutator_ctl.cluster_access import ClusterAccess, ClusterChoice
from nemutator_ctl.installation import files
from nemutator_ctl.installation.kube_objects import ApiServerObjects
from nemutator_ctl.installation.object_paths import ObjectPlace
from nemutator_ctl.installation.rendered_manifests import chosen, rendered

from tests.fakes.kube import kinds
from tests.fakes.kube.server import FakeKube

Json = dict[str, Any]

WORKLOADS = (kinds.DEPLOYMENTS, kinds.STATEFUL_SETS, kinds.DAEMON_SETS)
VERSION = (1, 36)


def documents(**values: Any) -> list[Json]:
    shipped = files.shipped()
    return rendered(shipped, chosen(shipped, values), kubernetes=VERSION)


class InstallingPerson:
    """Who hears what is done, and lets time pass."""

    def __init__(self, passes: Callable[[], None]) -> None:
        self.said: list[str] = []
        self.did: list[tuple[str, str]] = []
        self.elapsed_s = 0.0
        self._passes = passes

    def say(self, text: str) -> None:
        self.said.append(text)

    def done(self, place: ObjectPlace, outcome: str, document: Json | None) -> None:
        self.did.append((str(place), outcome))

    def outcomes(self) -> dict[str, str]:
        return dict(self.did)

    def monotonic(self) -> float:
        return self.elapsed_s

    def sleep(self, seconds: float) -> None:
        self.elapsed_s += seconds
        self._passes()


class InstalledCluster:
    """*kube* as a person with a kubeconfig has it."""

    def __init__(self, kube: FakeKube, folder: Path) -> None:
        self.kube = kube
        self.kubeconfig = folder / "kubeconfig"
        cluster = {"server": kube.url, "certificate-authority": str(kube.ca_file)}
        self.kubeconfig.write_text(
            json.dumps(
                {
                    "current-context": "here",
                    "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u"}}],
                    "clusters": [{"name": "c", "cluster": cluster}],
                    "users": [{"name": "u", "user": {"token": kube.token}}],
                }
            )
        )
        self.broken: set[str] = set()
        """Workloads that do not get ready."""
        self.on_sleep: list[Callable[[], None]] = []

    async def run(
        self, action: Callable[[ApiServerObjects, InstallingPerson], None]
    ) -> InstallingPerson:
        """*action*, in a thread as the command has one of its own; controllers work while it waits."""
        loop = asyncio.get_running_loop()

        async def once() -> None:
            self._obey()
            for each in self.on_sleep:
                each()

        def passes() -> None:
            asyncio.run_coroutine_threadsafe(once(), loop).result()

        person = InstallingPerson(passes)
        choice = ClusterChoice(
            kubeconfig=self.kubeconfig, context="", namespace="nemutator", account=""
        )

        def act() -> None:
            with contextlib.closing(ApiServerObjects(ClusterAccess(choice))) as objects:
                action(objects, person)

        await asyncio.to_thread(act)
        return person

    def put(self, documents: Iterable[Json]) -> None:
        """They are there."""
        known = {(each.api_version, each.kind): each for each in kinds.BUILT_IN}
        for document in documents:
            metadata = {"uid": document["metadata"]["name"], **document["metadata"]}
            kind = known[document["apiVersion"], document["kind"]]
            self.kube.store.put(kind, {**document, "metadata": metadata})

    def names(self, kind: kinds.Kind) -> set[str]:
        return {each["metadata"]["name"] for each in self.kube.store.all(kind)}

    def add_pods(self, pods: Iterable[Json]) -> None:
        for pod in pods:
            self.kube.store.put(kinds.PODS, pod)

    def _obey(self) -> None:
        for kind in WORKLOADS:
            for found in self.kube.store.all(kind):
                if found["metadata"]["name"] in self.broken or found.get("status"):
                    continue
                self.kube.store.put(kind, {**found, "status": _ready(found)})


def _ready(workload: Json) -> Json:
    count = workload["spec"].get("replicas", 1)
    replicas = ("replicas", "readyReplicas", "availableReplicas", "updatedReplicas")
    nodes = ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    return {
        "observedGeneration": workload["metadata"].get("generation", 1),
        **dict.fromkeys((*replicas, *nodes), count),
    }


def pod_with_socket(
    namespace: str, name: str, owner: str = "", *, kind: str = "ReplicaSet"
) -> Json:
    """A pod that the agent gave a socket."""
    owners = [{"kind": kind, "name": owner, "controller": True}] if owner else []
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": name,
            "labels": {"pod-template-hash": "5f6"} if kind == "ReplicaSet" else {},
            "ownerReferences": owners,
        },
        "spec": {"volumes": [{"name": "agent", "csi": {"driver": "agent.nemutator.io"}}]},
        "status": {"phase": "Running"},
    }
