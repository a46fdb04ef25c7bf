"""Replicas of admission behind a Service of a real API server, as a rollout replaces them.

The API server chooses an endpoint itself, and keeps its connections to one that has left, as it does where
kube-proxy has chosen it.
"""

import base64
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.certificates import Authority
from tests.e2e.talking import counted
from tests.e2e.testbed.webhook import (
    DEPLOY,
    REGISTERED,
    RIGHTS,
    ROLE,
    Json,
    account_files,
    asking,
    is_ready,
)
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port

NAMESPACE = "nemutator"
SERVICE = "nemutator-admission"
READY_S = 90.0
STOP_S = 30.0
"""What kubelet gives a pod to end, the time before the signal included."""
STAMP = "nemutator.io/mutation"


@dataclass(frozen=True, slots=True)
class Replica:
    name: str
    port: int
    data: Path
    daemon: Daemon = field(repr=False)

    def is_ready(self) -> bool:
        return is_ready(self.data / "admission.sock")

    def counted(self, metric: str, **labels: str) -> float:
        return counted(self.data / "admission.sock", metric, **labels)


@dataclass(frozen=True, slots=True)
class AdmissionService:
    cluster: Cluster
    host: str
    folder: Path
    authority: Authority
    leaves_s: float
    """From the moment a replica is no endpoint any more until it is told to end (preStop)."""

    def start(self, name: str) -> Replica:
        """A replica that becomes ready by itself; it is no endpoint yet."""
        data, port = self.folder / name, free_port()
        daemon = self.cluster.run.started(
            f"admission-{name}",
            [
                sys.executable, "-m", "nemutator_controller", "admission",
                f"--data-dir={data}", f"--address={self.host}:{port}",
                f"--tls-certificate={self.folder / 'tls.crt'}",
                f"--tls-key={self.folder / 'tls.key'}",
                f"--service-account={self.folder / ROLE}", "--init-image=nemutator/agent:e2e",
            ],
            environment={
                "PATH": os.defpath,
                "KUBERNETES_SERVICE_HOST": LOOPBACK,
                "KUBERNETES_SERVICE_PORT_HTTPS": str(self.cluster.port),
            },
        )  # fmt: skip
        return Replica(name, port, data, daemon)

    def add(self, replica: Replica) -> None:
        """Once it is ready."""
        replica.daemon.wait_until(replica.is_ready, within_s=READY_S)
        self.cluster.apply(self._endpoint(replica))

    def take_away(self, replica: Replica) -> None:
        """As when its pod is deleted: it is no endpoint from now on, and ends a while after."""
        self.cluster.kubectl("delete", "endpointslice", replica.name, f"--namespace={NAMESPACE}")
        # Not a wait for something: this time is what the manifest gives API servers to learn of it.
        time.sleep(self.leaves_s)
        process = replica.daemon.process
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_S - self.leaves_s) == 0, replica.daemon.said()

    def _endpoint(self, replica: Replica) -> Json:
        return {
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {
                "name": replica.name,
                "namespace": NAMESPACE,
                "labels": {"kubernetes.io/service-name": SERVICE},
            },
            "addressType": "IPv4",
            "endpoints": [{"addresses": [self.host], "conditions": {"ready": True}}],
            "ports": [{"port": replica.port, "name": "https", "protocol": "TCP"}],
        }


@contextmanager
def admission_service(cluster: Cluster, host: str, folder: Path) -> Iterator[AdmissionService]:
    """The Service of the manifests without an endpoint yet, and the webhooks that call it."""
    documents = list(yaml.safe_load_all((DEPLOY / "manifests" / "admission.yaml").read_text()))
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    [service] = [each for each in documents if each["kind"] == "Service"]
    # No controller makes endpoints of pods that have these labels.
    del service["spec"]["selector"]
    cluster.apply(service, *(each for each in documents if each["kind"] in RIGHTS))
    account_files(cluster, folder, ROLE)
    authority = Authority("the brain's own")
    leaf = authority.server(f"{SERVICE}.{NAMESPACE}.svc")
    (folder / "tls.crt").write_text(leaf.certificate)
    (folder / "tls.key").write_text(leaf.key)
    webhooks: Json = yaml.safe_load((DEPLOY / "manifests" / "webhooks.yaml").read_text())
    # Not the name that a brain looks for: it would have its own authority trusted here.
    webhooks["metadata"]["name"] = REGISTERED
    for entry in webhooks["webhooks"]:
        bundle = base64.b64encode(authority.certificate.encode()).decode()
        entry["clientConfig"]["caBundle"] = bundle
    webhooks["webhooks"] = [each for each in webhooks["webhooks"] if each.get("rules")]
    cluster.apply(webhooks)
    try:
        yield AdmissionService(cluster, host, folder, authority, _leaves_s(documents))
    finally:
        cluster.kubectl("delete", "mutatingwebhookconfiguration", REGISTERED)
        cluster.kubectl("delete", "mutationpolicies", "--all")
        cluster.kubectl("delete", "endpointslices", "--all", f"--namespace={NAMESPACE}")
        cluster.kubectl("delete", "service", SERVICE, f"--namespace={NAMESPACE}")


def _leaves_s(documents: list[Json]) -> float:
    [deployment] = [each for each in documents if each["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return float(container["lifecycle"]["preStop"]["sleep"]["seconds"])


@dataclass(slots=True)
class CreatedPods:
    """What became of pods that were created without a pause."""

    stamped: int = 0
    refused: list[str] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """Of pods without our stamp, what their creator was told."""
    unstamped: int = 0
    """Without a word from us: nobody has answered."""

    @property
    def asked(self) -> int:
        return self.stamped + self.unstamped + len(self.refused) + len(self.told)


@contextmanager
def creating(
    cluster: Cluster, namespace: str, manifest: Json, *, creators: int, pause_s: float
) -> Iterator[CreatedPods]:
    """So many creators at once, each one pod after the other, until the end of the block."""
    made, enough, lock = CreatedPods(), threading.Event(), threading.Lock()

    def create() -> None:
        with asking(cluster) as connection:
            while not enough.wait(pause_s):
                connection.request(
                    "POST",
                    f"/api/v1/namespaces/{namespace}/pods",
                    body=json.dumps(manifest),
                    headers={
                        "Authorization": f"Bearer {cluster.admin_token}",
                        "Content-Type": "application/json",
                    },
                )
                answer = connection.getresponse()
                said: Any = json.load(answer)
                warnings = answer.headers.get_all("Warning", [])
                with lock:
                    _note(made, answer.status, said, warnings)

    threads = [threading.Thread(target=create, name=f"creator {each}") for each in range(creators)]
    for thread in threads:
        thread.start()
    try:
        yield made
    finally:
        enough.set()
        for thread in threads:
            thread.join()


def _note(made: CreatedPods, status: int, said: Any, warnings: list[str]) -> None:
    if status != 201:
        made.refused.append(str(said.get("message")))
    elif STAMP in said["metadata"].get("annotations", {}):
        made.stamped += 1
    elif warnings:
        made.told += warnings[:1]
    else:
        made.unstamped += 1


def let_in_unasked(cluster: Cluster, since: int) -> list[str]:
    """Why the API server has let objects in without an answer of ours, from its log after *since* bytes."""
    content = api_server_log(cluster).read_bytes()[since:].decode(errors="replace")
    return [line for line in content.splitlines() if "failing open" in line]


def api_server_log(cluster: Cluster) -> Path:
    return cluster.run.logs / "kube-apiserver.log"
