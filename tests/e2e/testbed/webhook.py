"""The webhook as a process beside a real API server, and what tests ask of both."""

import base64
import json
import os
import ssl
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPSConnection
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import yaml
from nemutator_controller.policies.model import policy_of
from nemutator_controller.policies.template_rules import ENTRY, rules_for

from tests.certificates import Authority
from tests.e2e.talking import ask
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.waiting import until

Json = dict[str, Any]

TEMPLATES = {"applyTo": "template", "mutations": [{"labels": {"set": {"a": "b"}}}]}

DEPLOY = Path(__file__).parents[3] / "deploy"
READY_S = 120.0
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})
ROLE = "nemutator-admission"
REGISTERED = "nemutator-beside"
RIGHTS = frozenset({"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"})


@dataclass(frozen=True, slots=True)
class Webhook:
    cluster: Cluster
    daemon: Daemon
    port: int
    authority: Authority
    data: Path
    shown: Path | None = None
    """Certificate and key that it asks its callers for."""
    brain: Daemon | None = None

    def get(self, path: str) -> tuple[int, str]:
        context = ssl.create_default_context(cadata=self.authority.certificate)
        if self.shown is not None:
            context.load_cert_chain(self.shown)
        try:
            with urllib.request.urlopen(
                f"https://{LOOPBACK}:{self.port}{path}", timeout=60, context=context
            ) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            return refused.code, refused.read().decode()

    def decisions(self) -> list[Json]:
        """What is in its spool, read as bytes: it goes on writing."""
        found: list[Json] = []
        for segment in sorted((self.data / "spool").glob("*.spool")):
            content, at = segment.read_bytes(), 0
            while at < len(content):
                length = int.from_bytes(content[at : at + 4], "big")
                found.append(json.loads(content[at + 8 : at + 8 + length]))
                at += 8 + length
        return found

    def decisions_in(self, namespace: str) -> list[Json]:
        return [each for each in self.decisions() if each["subject"]["namespace"] == namespace]

    def until_called(self, namespace: str) -> None:
        """A new configuration takes effect a moment after it was accepted."""

        def called() -> bool:
            manifest = pod(labels={"nemutator.io/inject": "enabled"})
            made = create(self.cluster, namespace, manifest, "--dry-run=server")
            return "initContainers" in made["spec"]

        until(called, "the webhook is called", within_s=60)

    def until_known(self, namespace: str, label: str) -> None:
        """A policy takes effect when its watch event has come."""

        def known() -> bool:
            made = create(self.cluster, namespace, pod(), "--dry-run=server")
            return label in made["metadata"].get("labels", {})

        until(known, f"the policy that sets {label} is known", within_s=60)


def define(cluster: Cluster, *, strict: bool = True) -> None:
    """The definition of policies; not *strict*: one that takes any spec, as an older one might."""
    file = DEPLOY / "crds" / "mutationpolicies.json"
    definition = json.loads(file.read_text())
    if not strict:
        [version] = definition["spec"]["versions"]
        spec = version["schema"]["openAPIV3Schema"]["properties"]
        spec["spec"] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    cluster.kubectl(
        "apply", "--server-side", "--force-conflicts", "--filename=-", given=json.dumps(definition)
    )
    name = definition["metadata"]["name"]

    def established() -> bool:
        # One that is so new that it has no conditions makes an error of `kubectl wait`.
        known = json.loads(cluster.kubectl("get", f"crd/{name}", "--output=json"))
        conditions = known.get("status", {}).get("conditions") or ()
        return any(one["type"] == "Established" and one["status"] == "True" for one in conditions)

    until(established, "the definition of policies", within_s=120)


@contextmanager
def standing(
    cluster: Cluster,
    folder: Path,
    *,
    brain: bool = False,
    registries: str = "",
    settings: Mapping[str, str] = NO_SETTINGS,
    certified: bool = False,
    strict: bool = True,
    siblings: int = 0,
) -> Iterator[Webhook]:
    """The process, with the rights that its manifest gives it, called by the manifest's entries.

    With a *brain* it has nothing in its spool for long; it finds that in its data directory. The
    brain reads images of *registries*, and has further *settings*, by their variables.
    *certified*: only the API server and a probe may call, with certificates of the front proxy's
    authority. So many *siblings* listen on its port, each with a data directory beside its own.
    """
    manifests = list(yaml.safe_load_all((DEPLOY / "manifests" / "admission.yaml").read_text()))
    # Left behind: its end would take seconds, and the cluster ends soon anyway.
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "nemutator"}})
    cluster.apply(*(each for each in manifests if each["kind"] in RIGHTS))
    data = folder / "data"
    # First: whoever finds no brain asks for it ever more seldom.
    beside = [_brain(cluster, folder, data, registries, settings)] if brain else []
    account = account_files(cluster, folder, ROLE)
    authority = Authority("the brain's own")
    leaf = authority.server(LOOPBACK)
    (folder / "tls.crt").write_text(leaf.certificate)
    (folder / "tls.key").write_text(leaf.key)
    shown: Path | None = None
    asking_for: list[str] = []
    if certified:
        (folder / "clients.crt").write_text(cluster.front_proxy.certificate)
        shown = folder / "probe.pem"
        shown.write_text(cluster.front_proxy.client("probe").both)
        asking_for = [f"--client-ca={folder / 'clients.crt'}", "--client-names=front-proxy,probe"]
    port = free_port()
    further = [*asking_for, *(["--strict"] if strict else [])]
    if siblings:
        further.append(f"--siblings={folder / 'siblings'}")

    def started(number: int) -> Daemon:
        # Its first data directory is the brain's, too.
        own = data if not number else folder / f"data-{number}"
        return cluster.run.started(
            f"admission-{number}" if number else "admission",
            [
                sys.executable, "-m", "nemutator_controller", "admission",
                f"--data-dir={own}", f"--address={LOOPBACK}:{port}",
                f"--tls-certificate={folder / 'tls.crt'}", f"--tls-key={folder / 'tls.key'}",
                f"--service-account={account}", "--init-image=nemutator/agent:e2e", *further,
            ],
            environment={
                "PATH": os.defpath,
                "KUBERNETES_SERVICE_HOST": LOOPBACK,
                "KUBERNETES_SERVICE_PORT_HTTPS": str(cluster.port),
            },
        )  # fmt: skip

    daemon = started(0)
    beside += [started(number + 1) for number in range(siblings)]
    hook = Webhook(
        cluster, daemon, port, authority, data, shown, brain=beside[0] if brain else None
    )

    def ready() -> bool:
        try:
            return hook.get("/readyz")[0] == 200
        except OSError:
            return False

    daemon.wait_until(ready, within_s=READY_S)
    for number in range(siblings):
        socket = folder / f"data-{number + 1}" / "admission.sock"
        until(lambda at=socket: is_ready(at), "a sibling is ready", within_s=READY_S)  # type: ignore[misc]
    cluster.apply(_pointed_at(port, authority))
    yield hook
    cluster.kubectl("delete", "mutatingwebhookconfiguration", REGISTERED)
    cluster.kubectl("delete", "mutationpolicies", "--all")
    for each in (daemon, *beside):
        each.stop()


def is_ready(socket: Path) -> bool:
    """As the manifest's probe asks."""
    try:
        return ask(socket, "/readyz").status == 200
    except OSError:
        return False


def account_files(cluster: Cluster, folder: Path, name: str) -> Path:
    """What kubelet gives a pod of this service account."""
    account = folder / name
    account.mkdir()
    (account / "token").write_text(cluster.token("nemutator", name))
    (account / "ca.crt").write_text(cluster.ca_file.read_text())
    return account


def _brain(
    cluster: Cluster, folder: Path, data: Path, registries: str, settings: Mapping[str, str]
) -> Daemon:
    manifests = yaml.safe_load_all((DEPLOY / "manifests" / "brain.yaml").read_text())
    cluster.apply(*(each for each in manifests if each["kind"] in RIGHTS))
    return cluster.run.started(
        "brain",
        [sys.executable, "-m", "nemutator_controller", "brain"],
        environment={
            "PATH": os.defpath,
            "KUBERNETES_SERVICE_HOST": LOOPBACK,
            "KUBERNETES_SERVICE_PORT_HTTPS": str(cluster.port),
            "NEMUTATOR_BRAIN_CLUSTER": "true",
            "NEMUTATOR_BRAIN_NAMESPACE": "nemutator",
            "NEMUTATOR_BRAIN_UPLINK": f"{LOOPBACK}:{free_port()}",
            "NEMUTATOR_BRAIN_CLUSTER_CONSOLE": f"{LOOPBACK}:{free_port()}",
            "NEMUTATOR_BRAIN_SERVICE_ACCOUNT": str(
                account_files(cluster, folder, "nemutator-brain")
            ),
            "NEMUTATOR_BRAIN_IMAGE_REGISTRIES": registries,
            **settings,
            "NEMUTATOR_DATA_DIR": str(data),
        },
    )


def _pointed_at(port: int, authority: Authority) -> Json:
    """The manifest, with this process instead of the service."""
    made: Json = yaml.safe_load((DEPLOY / "manifests" / "webhooks.yaml").read_text())
    # Not the name that a brain looks for: it would have its own authority trusted here.
    made["metadata"]["name"] = REGISTERED
    for entry in made["webhooks"]:
        if entry["name"] == ENTRY:
            # As a brain writes them while some policy is for templates.
            entry["rules"] = rules_for([policy_of("templates", TEMPLATES)])
        path = entry["clientConfig"]["service"]["path"]
        entry["clientConfig"] = {
            "url": f"https://{LOOPBACK}:{port}{path}",
            "caBundle": base64.b64encode(authority.certificate.encode()).decode(),
        }
    return made


def pod(name: str = "", **metadata: Any) -> Json:
    named: Json = {"name": name} if name else {"generateName": "web-"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": named | metadata,
        "spec": {
            # Nobody places it, so that no node tries to run it.
            "schedulerName": "nobody",
            "containers": [
                {
                    "name": "app",
                    "image": "app:1",
                    "resources": {"requests": {"cpu": "1", "memory": "64Mi"}},
                }
            ],
        },
    }


def create(cluster: Cluster, namespace: str, manifest: Json, *more: str) -> Json:
    printed = cluster.kubectl(
        "create",
        f"--namespace={namespace}",
        "--filename=-",
        "--output=json",
        *more,
        given=json.dumps(manifest),
    )
    made: Json = json.loads(printed)
    return made


@contextmanager
def asking(cluster: Cluster) -> Iterator[HTTPSConnection]:
    """A connection for many `asked`: kubectl, and TLS anew each time, would take most of it."""
    context = ssl.create_default_context(cafile=str(cluster.ca_file))
    server = urlsplit(cluster.url)
    connection = HTTPSConnection(str(server.hostname), server.port, timeout=60, context=context)
    with closing(connection):
        yield connection


def asked(
    connection: HTTPSConnection,
    cluster: Cluster,
    path: str,
    manifest: Json,
    *,
    method: str = "POST",
) -> tuple[int, Json, str]:
    """Status, body and warnings of a creation, or an update, that is not kept."""
    connection.request(
        method,
        f"{path}?dryRun=All&fieldValidation=Strict",
        body=json.dumps(manifest),
        headers={
            "Authorization": f"Bearer {cluster.admin_token}",
            "Content-Type": "application/json",
        },
    )
    answer = connection.getresponse()
    return answer.status, json.load(answer), "\n".join(answer.headers.get_all("Warning", []))


def policy(name: str, namespace: str, *mutations: Json, mode: str = "Apply", **spec: Any) -> Json:
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": name},
        "spec": {
            "match": {"namespaces": [namespace]},
            "mode": mode,
            "mutations": list(mutations),
            **spec,
        },
    }
