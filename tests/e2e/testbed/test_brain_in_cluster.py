"""The brain with the permissions of its manifest, before a real API server: who may do what there."""

import base64
import contextlib
import http.client
import json
import os
import secrets
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
import pytest
import yaml
from cryptography import x509
from nemutator_common.decisions import Subject
from nemutator_common.names import MUTATION, PROFILE, PROFILE_RESULT
from nemutator_common.wire import (
    PROFILE_REQUESTS_PATH,
    PROFILES_PATH,
    Batch,
    Envelope,
    ProfileOutcome,
    ProfileRequests,
    StreamBatch,
    Workload,
)

from tests.e2e.testbed.workloads import sleeping
from tests.fakes.batches import workload
from tests.fakes.decisions import decision
from tests.fakes.grants import grant
from tests.fakes.profiles import content
from tests.fakes.reports import report
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.waiting import until

MANIFEST = Path(__file__).parents[3] / "deploy" / "manifests" / "brain.yaml"
PERMISSIONS = {"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"}
AUDIENCE = "brain.nemutator.io"
REPORTS = "/uplink/v1/reports"
READY_S = 40.0


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
        connection = http.client.HTTPSConnection(LOOPBACK, port, timeout=10, context=self.trust)
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


def brain(installation: Installation) -> subprocess.Popen[bytes]:
    """As in a pod: kubelet's files and variables, and no kubeconfig."""
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
    }
    command = [sys.executable, "-P", "-m", "nemutator_controller", "brain", "--lifeline"]
    log = (installation.directory / "brain.log").open("ab")
    with log:
        return subprocess.Popen(command, stdin=subprocess.PIPE, stderr=log, env=environment)


@pytest.fixture
def installation(cluster: Cluster, namespace: str, tmp_path: Path) -> Iterator[Installation]:
    """A brain that is ready."""
    suffix = secrets.token_hex(3)
    nodes = (f"link-a-{suffix}", f"link-b-{suffix}")
    made = Installation(cluster, namespace, tmp_path, free_port(), free_port(), nodes)
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
    process = brain(made)
    try:
        until(lambda: is_ready(made, process), "the brain is ready", within_s=READY_S)
        yield made
    finally:
        process.kill()
        process.wait()
        assert process.stdin is not None
        process.stdin.close()
        print((tmp_path / "brain.log").read_text()[-4000:])
        cluster.kubectl("delete", "mutatingwebhookconfiguration", "nemutator")
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


@pytest.mark.timeout(180)  # a control plane that may be busy, and a process with its imports
def test_each_may_do_what_is_theirs_and_nothing_else(installation: Installation) -> None:
    uplink, console = installation.uplink, installation.console
    here, there = installation.nodes

    # Certificates: ours are trusted, and nothing of others is touched.
    authority = installation.cluster.get(
        "configmap", "nemutator-ca", f"-n={installation.namespace}"
    )
    published = authority["data"]["ca.crt"]
    ours, theirs = installation.webhooks()
    assert base64.b64decode(ours["clientConfig"]["caBundle"]).decode() == published
    assert "caBundle" not in theirs["clientConfig"]
    leaf = installation.cluster.get(
        "secret", "nemutator-admission-tls", f"-n={installation.namespace}"
    )
    certificate = x509.load_pem_x509_certificate(base64.b64decode(leaf["data"]["tls.crt"]))
    certificate.verify_directly_issued_by(x509.load_pem_x509_certificate(published.encode()))
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    service = f"nemutator-admission.{installation.namespace}.svc"
    assert service in names.get_values_for_type(x509.DNSName)
    print(f"caBundle of {ours['name']} is the authority's; {service} has its certificate")

    # An agent speaks for its node.
    uid = installation.pod("agent-a", here, "nemutator-agent")
    other_uid = installation.pod("agent-b", there, "nemutator-agent")
    agent = installation.token("nemutator-agent", pod="agent-a")
    pods = [
        replace(workload(f"/kubepods/pod{one}"), kind="pod", pod_uid=one)
        for one in (uid, other_uid)
    ]
    accepted = installation.ask(uplink, REPORTS, token=agent, body=reports(here, *pods))
    assert (accepted.status, accepted.json) == (200, {"epoch": "e1", "seq": 1})
    refused = installation.ask(uplink, REPORTS, token=agent, body=reports(there))
    assert refused.status == 403, refused.body
    strangers = {
        "wrong audience": installation.token("nemutator-agent", pod="agent-a", audience="vault"),
        "for the API server": installation.token("nemutator-agent", pod="agent-a", audience=""),
        "bound to no pod": installation.token("nemutator-agent"),
        "another account": installation.token("stranger"),
        "made up": "e30.e30.c2ln",
        "no token": "",
    }
    for why, token in strangers.items():
        answer = installation.ask(uplink, REPORTS, token=token, body=reports(here))
        assert answer.status == 401, (why, answer.body)
        print(f"uplink refuses {why}: {answer.status}")
    for path in ("/api/v1/topology", "/uplink/v1/advice", "/uplink/v1/tombstones"):
        assert installation.ask(uplink, path, token=agent).status == 403, path
    granted = msgspec.to_builtins(grant(node=here, at=time.time(), expires_at=time.time() + 3600))
    records = msgspec.json.encode(StreamBatch(here, "e1", 1, (granted,)))
    assert (
        installation.ask(uplink, "/uplink/v1/streams/grants", token=agent, body=records).status
        == 200
    )
    forged = msgspec.json.encode(StreamBatch(there, "e1", 1, (granted,)))
    assert (
        installation.ask(uplink, "/uplink/v1/streams/grants", token=agent, body=forged).status
        == 403
    )

    # Admission reads snapshots and speaks for no node.
    installation.pod("admission-1", here, "nemutator-admission")
    admission = installation.token("nemutator-admission", pod="admission-1")
    assert installation.ask(uplink, "/uplink/v1/advice", token=admission).status == 200
    assert installation.ask(uplink, REPORTS, token=admission, body=reports(here)).status == 403

    # People see what RBAC lets them.
    anonymous = installation.ask(console, "/api/v1/topology")
    assert anonymous.status == 401
    form = installation.ask(console, "/")
    assert (form.status, b"<form" in form.body) == (401, True)
    stranger = installation.token("stranger", audience="")
    denied = installation.ask(console, "/api/v1/topology", token=stranger)
    assert denied.status == 403
    assert "may not get topology.nemutator.io" in denied.json["error"]
    viewer = installation.token("viewer", audience="")
    shown = installation.ask(console, "/api/v1/topology", token=viewer)
    assert shown.status == 200, shown.body
    [node] = shown.json["nodes"]
    mine, foreign = node["workloads"]
    assert (mine["name"], mine["namespace"]) == ("agent-a", installation.namespace)
    assert mine["labels"]["owner"] == "Pod/agent-a"
    assert foreign["labels"].get("owner") is None, "a node spoke for another's pod"
    leases = installation.ask(console, "/api/v1/leases", token=viewer)
    assert [lease["role"] for lease in leases.json["items"]] == ["shop.web"]
    asked = json.dumps({"target": {"kind": "pod", "value": uid}, "seconds": 1}).encode()
    changing = installation.ask(console, "/api/v1/profiles", token=viewer, body=asked)
    assert changing.status == 403
    assert "may not create profiles.nemutator.io" in changing.json["error"]
    print(f"console: anonymous 401; {denied.json['error']}; {changing.json['error']}")

    # A browser signs in once.
    body = urlencode({"token": viewer}).encode()
    kind = "application/x-www-form-urlencoded"
    evil = installation.ask(
        console, "/sign-in", body=body, Content_Type=kind, Origin="https://evil.example.com"
    )
    assert evil.status == 403
    signed = installation.ask(console, "/sign-in", body=body, Content_Type=kind)
    assert signed.status == 303
    cookie = signed.headers["Set-Cookie"].split(";")[0]
    assert viewer not in signed.headers["Set-Cookie"]
    assert installation.ask(console, "/", Cookie=cookie).status == 200
    assert installation.ask(console, "/api/v1/topology", Cookie=cookie).status == 200

    # The manifest's permissions are enough.
    assert refusals(installation) == []
    log = (installation.directory / "brain.log").read_text()
    for secret in (agent, viewer, admission, "PRIVATE KEY"):
        assert secret not in log


def outcome(installation: Installation, token: str, said: ProfileOutcome) -> None:
    answer = installation.ask(
        installation.uplink, PROFILES_PATH, token=token, body=msgspec.json.encode(said)
    )
    assert answer.status == 200, answer.body


def annotations(installation: Installation, pod: str) -> dict[str, str]:
    found = installation.cluster.get("pod", pod, f"-n={installation.namespace}")
    return dict(found["metadata"].get("annotations", {}))


@pytest.mark.timeout(180)
def test_a_pod_asks_for_a_profile_and_is_told_how_it_went(installation: Installation) -> None:
    cluster, namespace, uplink = installation.cluster, installation.namespace, installation.uplink
    node, other = installation.nodes
    agents = {}
    for name, where in (("agent-p", node), ("agent-q", other)):
        installation.pod(name, where, "nemutator-agent")
        agents[name] = installation.token("nemutator-agent", pod=name)
    uid = installation.pod("web", node, "stranger")

    cluster.kubectl("annotate", "pod", "web", f"-n={namespace}", f"{PROFILE}=cpu 5s at=49hz id=1")
    path = f"{PROFILE_REQUESTS_PATH}?node={node}&wait_s=8"
    forbidden = installation.ask(uplink, path, token=agents["agent-q"])
    assert forbidden.status == 403, "an agent was told of another node's request"
    answer = installation.ask(uplink, path, token=agents["agent-p"])
    [request] = msgspec.json.decode(answer.body, type=ProfileRequests).requests
    assert (request.target.kind, request.target.value) == ("pod", uid)
    assert (request.seconds, request.hz) == (5, 49)
    print(f"the agent of {node} is asked for profile {request.id}")

    def result() -> dict[str, str]:
        said = annotations(installation, "web").get(PROFILE_RESULT)
        return dict(json.loads(said)) if said else {}

    running = ProfileOutcome(id=request.id, node=node, state="running")
    outcome(installation, agents["agent-p"], running)
    until(lambda: result().get("state") == "running", "the pod says that it runs", within_s=20)
    done = ProfileOutcome(
        id=request.id, node=node, state="done", started_at=time.time(), seconds=5.0, hz=49,
        recorded=2, lost={}, cpu_seconds=0.04, pprof=content("main.work", "main.idle"),
    )  # fmt: skip
    outcome(installation, agents["agent-p"], done)
    until(lambda: result().get("state") == "done", "the pod says that it is done", within_s=20)
    assert result()["id"] == request.id
    print(f"{PROFILE_RESULT}: {result()}")
    link = urlsplit(result()["link"])
    viewer = installation.token("viewer", audience="")
    page = installation.ask(installation.console, link.path, token=viewer)
    assert (page.status, b"main.work" in page.body) == (200, True)

    # What cannot be understood is said on the pod and in an Event.
    cluster.kubectl("annotate", "pod", "web", "--overwrite", f"-n={namespace}", f"{PROFILE}=heap")
    until(lambda: result().get("state", "").startswith("refused"), "it is refused", within_s=20)

    def events() -> list[dict[str, Any]]:
        found = cluster.get(
            "events", f"--field-selector=involvedObject.uid={uid}", f"-n={namespace}"
        )
        return [event for event in found["items"] if event["reason"] == "Profile"]

    until(events, "the Event is there", within_s=20)
    [event] = events()
    assert event["type"] == "Warning"
    assert "only `cpu` can be profiled" in event["message"]
    print(f"Event: {event['message']}")
    assert refusals(installation) == []


@pytest.mark.timeout(180)
def test_a_decision_gets_the_name_of_its_pod_whichever_comes_first(
    installation: Installation,
) -> None:
    cluster, namespace = installation.cluster, installation.namespace
    node = installation.nodes[0]
    installation.pod("admission-m", node, "nemutator-admission")
    admission = installation.token("nemutator-admission", pod="admission-m")
    viewer = installation.token("viewer", audience="")

    def ship(number: int) -> None:
        subject = Subject(
            api_version="v1", kind="Pod", namespace=namespace, name="", generate_name="web-"
        )
        one = msgspec.to_builtins(decision(number, subject=subject))
        body = msgspec.json.encode(StreamBatch("admission-m", "e1", number, (one,)))
        path = "/uplink/v1/streams/decisions"
        answer = installation.ask(installation.uplink, path, token=admission, body=body)
        assert (answer.status, answer.json["seq"]) == (200, number), answer.body

    def born(number: int) -> None:
        pod = sleeping(f"web-{number}", namespace, nodeName=node)
        pod["metadata"]["annotations"] = {MUTATION: json.dumps({"id": f"d{number}"})}
        cluster.apply(pod)

    def states() -> dict[str, tuple[str, str]]:
        found = installation.ask(installation.console, "/api/v1/mutations", token=viewer)
        return {
            item["id"]: (item["state"], item["subject"]["name"]) for item in found.json["items"]
        }

    ship(1)
    assert states() == {"d1": ("answered", "")}
    born(1)
    born(2)
    until(lambda: states()["d1"] == ("observed", "web-1"), "d1 is seen", within_s=20)
    ship(2)
    until(lambda: states()["d2"] == ("observed", "web-2"), "d2 is seen", within_s=40)
    print(states())
    assert refusals(installation) == []


@pytest.mark.timeout(180)
def test_a_deleted_pods_token_opens_nothing(installation: Installation) -> None:
    node = installation.nodes[0]
    installation.pod("agent-c", node, "nemutator-agent")
    token = installation.token("nemutator-agent", pod="agent-c")
    installation.cluster.kubectl(
        "delete", "pod", "agent-c", "--force", "--grace-period=0", f"-n={installation.namespace}"
    )
    answer = installation.ask(installation.uplink, REPORTS, token=token, body=reports(node))
    assert answer.status == 401
