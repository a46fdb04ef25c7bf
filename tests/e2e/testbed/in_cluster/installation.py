"""A brain as in a pod, with the permissions of its manifest, before a real API server."""

import contextlib
import http.client
import json
import os
import secrets
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from nemutator_common.wire import Batch, Envelope, Workload

from tests.e2e.testbed.workloads import sleeping
from tests.fakes.reports import report
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.waiting import until

MANIFEST = Path(__file__).parents[4] / "deploy" / "manifests" / "brain.yaml"
PERMISSIONS = {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
AUDIENCE = "brain.nemutator.io"
REPORTS = "/uplink/v1/reports"
READY_S = 120.0
"""On a machine that is busy with all the other tests a start takes a while."""


@dataclass
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Installation:
    cluster: Cluster
    namespace: str
    directory: Path
    uplink: int
    console: int
    nodes: tuple[str, str]
    trust: ssl.SSLContext | None = field(default=None, repr=False)
    process: subprocess.Popen[bytes] | None = None

    def ask(
        self,
        port: int,
        path: str,
        *,
        token: str = "",
        body: bytes | None = None,
        **headers: str,
    ) -> Answer:
        """GET, or POST with a *body*, trusting the published authority alone."""
        if self.trust is None:
            published = self.cluster.get("configmap", "nemutator-ca", f"-n={self.namespace}")
            self.trust = ssl.create_default_context(cadata=published["data"]["ca.crt"])
        connection = http.client.HTTPSConnection(LOOPBACK, port, timeout=60, context=self.trust)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        with contextlib.closing(connection):
            connection.request("GET" if body is None else "POST", path, body=body, headers=sent)
            answer = connection.getresponse()
            return Answer(answer.status, dict(answer.headers), answer.read())

    def token(self, account: str, *, pod: str = "", audience: str = AUDIENCE) -> str:
        bound = [f"--bound-object-name={pod}", "--bound-object-kind=Pod"] if pod else []
        meant = [f"--audience={audience}"] if audience else []
        return self.cluster.kubectl(
            "create", "token", account, f"--namespace={self.namespace}", *bound, *meant
        ).strip()

    def pod(self, name: str, node: str, account: str) -> str:
        """A pod that is said to run on *node*, which has no kubelet; its uid."""
        pod = sleeping(name, self.namespace, nodeName=node, serviceAccountName=account)
        self.cluster.apply(pod)
        uid: str = self.cluster.get("pod", name, f"-n={self.namespace}")["metadata"]["uid"]
        return uid

    def counted(self, metric: str) -> float:
        """What the brain has counted of *metric*, which has its labels: `name{label="value"}`."""
        with socket.socket(socket.AF_UNIX) as asking:
            asking.settimeout(60)
            asking.connect(str(self.directory / "data" / "brain.sock"))
            asking.sendall(b"GET /metrics HTTP/1.1\r\nHost: brain\r\nConnection: close\r\n\r\n")
            shown = asking.makefile("rb").read().decode()
        lines = [line.rpartition(" ") for line in shown.splitlines()]
        return sum(float(value) for name, _, value in lines if name == metric)

    def webhooks(self) -> list[dict[str, Any]]:
        found = self.cluster.get("mutatingwebhookconfiguration", "nemutator")
        webhooks: list[dict[str, Any]] = found["webhooks"]
        return webhooks


def permissions(namespace: str) -> Iterator[dict[str, Any]]:
    """Those of the manifest, for a namespace of our own; what is the cluster's is named after it."""
    for document in yaml.safe_load_all(MANIFEST.read_text()):
        if document["kind"] not in PERMISSIONS:
            continue
        metadata = document["metadata"]
        if "namespace" in metadata:
            metadata["namespace"] = namespace
        else:
            metadata["name"] += f"-{namespace}"
        role = document.get("roleRef", {})
        if role.get("kind") == "ClusterRole":
            role["name"] += f"-{namespace}"
        for subject in document.get("subjects", ()):
            subject["namespace"] = namespace
        yield document


def webhook(name: str) -> dict[str, Any]:
    """One that no object ever matches."""
    return {
        "name": name,
        "clientConfig": {"url": f"https://{LOOPBACK}:1/"},
        "rules": [
            {
                "apiGroups": ["none.example.com"],
                "apiVersions": ["v1"],
                "operations": ["CREATE"],
                "resources": ["things"],
            }
        ],
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }


def brain(installation: Installation, **settings: str) -> subprocess.Popen[bytes]:
    """As in a pod: kubelet's files and variables, and no kubeconfig. *settings* are of its environment."""
    account = installation.directory / "account"
    account.mkdir(exist_ok=True)
    token = installation.token("nemutator-brain", audience="")
    (account / "token").write_text(token)
    (account / "ca.crt").write_text(installation.cluster.authority.certificate)
    environment = {
        "PATH": os.defpath,
        "KUBERNETES_SERVICE_HOST": LOOPBACK,
        "KUBERNETES_SERVICE_PORT_HTTPS": str(installation.cluster.port),
        "NEMUTATOR_BRAIN_CLUSTER": "true",
        "NEMUTATOR_BRAIN_NAMESPACE": installation.namespace,
        "NEMUTATOR_BRAIN_UPLINK": f"{LOOPBACK}:{installation.uplink}",
        "NEMUTATOR_BRAIN_CLUSTER_CONSOLE": f"{LOOPBACK}:{installation.console}",
        "NEMUTATOR_BRAIN_SERVER_NAMES": LOOPBACK,
        "NEMUTATOR_BRAIN_SERVICE_ACCOUNT": str(account),
        "NEMUTATOR_DATA_DIR": str(installation.directory / "data"),
        **settings,
    }
    command = [sys.executable, "-P", "-m", "nemutator_controller", "brain", "--lifeline"]
    log = (installation.directory / "brain.log").open("ab")
    with log:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, env=environment)


def started(installation: Installation, **settings: str) -> None:
    """Until it is ready."""
    process = installation.process = brain(installation, **settings)
    until(lambda: is_ready(installation, process), "the brain is ready", within_s=READY_S)


def ended(installation: Installation) -> None:
    """At once, as by a kill."""
    process = installation.process
    assert process is not None
    process.kill()
    process.wait()
    assert process.stdin is not None
    process.stdin.close()


@contextlib.contextmanager
def installed(
    cluster: Cluster, namespace: str, directory: Path, **settings: str
) -> Iterator[Installation]:
    """A brain that is ready, in *namespace*."""
    suffix = secrets.token_hex(3)
    nodes = (f"link-a-{suffix}", f"link-b-{suffix}")
    made = Installation(cluster, namespace, directory, free_port(), free_port(), nodes)
    documents = list(permissions(namespace))
    hooks = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "nemutator"},
        "webhooks": [webhook("none.nemutator.io"), webhook("none.example.com")],
    }
    for node in nodes:
        cluster.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": node}})
    for name in ("nemutator-agent", "nemutator-admission", "viewer", "stranger"):
        cluster.kubectl("create", "serviceaccount", name, f"--namespace={namespace}")
    cluster.apply(*documents, hooks)
    cluster.kubectl(
        "create", "clusterrolebinding", f"viewer-{namespace}",
        f"--clusterrole=nemutator-viewer-{namespace}", f"--serviceaccount={namespace}:viewer",
    )  # fmt: skip
    try:
        started(made, **settings)
        yield made
    finally:
        ended(made)
        print((directory / "brain.log").read_text()[-4000:])
        cluster.kubectl("delete", "mutatingwebhookconfiguration", "nemutator", "--ignore-not-found")
        cluster.kubectl("delete", "clusterrolebinding", f"viewer-{namespace}")
        for document in documents:
            if "namespace" not in document["metadata"]:
                cluster.kubectl("delete", document["kind"], document["metadata"]["name"])
        cluster.kubectl("delete", "node", *nodes, "--wait=false")


def is_ready(installation: Installation, process: subprocess.Popen[bytes]) -> bool:
    if process.poll() is not None:
        pytest.fail((installation.directory / "brain.log").read_text()[-4000:])
    found = installation.cluster.kubectl(
        "get", "configmap", "nemutator-ca", "--ignore-not-found", f"-n={installation.namespace}"
    )
    if not found:
        return False
    with contextlib.suppress(OSError):
        return installation.ask(installation.uplink, "/readyz").status == 200
    return False


def nemutator(
    installation: Installation, token: str, folder: Path, *words: str
) -> subprocess.CompletedProcess[str]:
    """A command, as somebody with that *token* runs it; *folder* is theirs."""
    token_file, ca_file = folder / "token", folder / "ca.crt"
    token_file.write_text(token)
    published = installation.cluster.get(
        "configmap", "nemutator-ca", f"-n={installation.namespace}"
    )
    ca_file.write_text(published["data"]["ca.crt"])
    return subprocess.run(
        [
            sys.executable, "-m", "nemutator_ctl", *words,
            f"--brain=https://{LOOPBACK}:{installation.console}",
            f"--brain-token-file={token_file}", f"--brain-ca-file={ca_file}",
        ],
        env={"PATH": os.defpath, "HOME": str(folder)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip


def refusals(installation: Installation) -> list[str]:
    """What the brain asked of the API server and may not."""
    user = f"system:serviceaccount:{installation.namespace}:nemutator-brain"
    return [
        entry["requestURI"]
        for entry in installation.cluster.audit()
        if entry["user"].get("username") == user and entry["responseStatus"].get("code") == 403
    ]


def reports(node: str, *workloads: Workload, seq: int = 1) -> bytes:
    look = replace(report(time.time()), workloads=workloads)
    return msgspec.json.encode(Batch(node, "e1", (Envelope(seq, look),)))


def without(secret: str, installation: Installation) -> None:
    """The brain's log has it nowhere."""
    assert secret not in (installation.directory / "brain.log").read_text()
