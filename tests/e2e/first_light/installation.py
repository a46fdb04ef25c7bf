"""nemutator on the testbed, as its own manifests install it: images built of the Dockerfiles."""

import contextlib
import http.client
import json
import os
import secrets
import shutil
import ssl
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e.first_light.manifests import (
    AGENT,
    REPOSITORY,
    Place,
    agent,
    controller,
    documents,
)
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.image_store import ImageStore
from tests.testbed.parts.node.any_node import AnyNode
from tests.testbed.parts.vault import Vault
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.waiting import until

NAMESPACE = "nemutator"
SAMPLE = "localhost/nemutator/shop:e2e"

METRICS = {
    "brain": "metrics-brain",
    "admission": "metrics-webhook",
    "mount": "metrics-mount",
    "credentials": "metrics-creds",
    "observe": "metrics-observe",
}
"""Of each process, the name of the port where it is scraped."""

READY_S = 900
"""On an emulated CPU: on a real one a tenth of it."""
CALL_S = 240.0
GONE_S = 600

WORKLOADS = (
    "statefulset/nemutator-brain",
    "deployment/nemutator-admission",
    "daemonset/nemutator-agent",
)


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Installation:
    cluster: Cluster
    node: AnyNode
    vault: Vault
    ports: dict[str, int]
    ca_file: Path
    """Of nemutator's own authority."""

    def console(
        self, path: str, *, token: str | None, method: str = "GET", body: object = None
    ) -> Answer:
        """What the console answers to a person with *token*, over TLS that is checked."""
        context = ssl.create_default_context(cafile=str(self.ca_file))
        connection = http.client.HTTPSConnection(
            LOOPBACK, self.ports["console"], timeout=CALL_S, context=context
        )
        headers = {"Authorization": f"Bearer {token}"} if token is not None else {}
        try:
            given = None if body is None else json.dumps(body)
            connection.request(method, path, body=given, headers=headers)
            response = connection.getresponse()
            return Answer(response.status, response.read())
        finally:
            connection.close()

    def nemutator(self, *words: str, token: str) -> str:
        """What a command says to a person with *token* who asks this brain."""
        brain = f"--brain=https://{LOOPBACK}:{self.ports['console']}"
        options = [brain, f"--brain-ca-file={self.ca_file}", "--brain-token-file=/dev/stdin"]
        command = [sys.executable, "-m", "nemutator_ctl", *words, *options]
        done = subprocess.run(
            command, input=token, capture_output=True, text=True, timeout=CALL_S, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def items(self, path: str, *, token: str) -> list[dict[str, Any]]:
        answer = self.console(path, token=token)
        assert answer.status == 200, answer
        items: list[dict[str, Any]] = answer.document["items"]
        return items

    def metric(self, process: str, series: str) -> float:
        """The value of a *series* as a scraper reads it from *process*; 0 where there is none."""
        port = self.ports[METRICS[process]]
        connection = http.client.HTTPConnection(LOOPBACK, port, timeout=CALL_S)
        try:
            connection.request("GET", "/metrics")
            lines = connection.getresponse().read().decode().splitlines()
        finally:
            connection.close()
        found = [line.rpartition(" ")[2] for line in lines if line.startswith(f"{series} ")]
        return float(found[0]) if found else 0.0

    def pod_of(self, component: str) -> dict[str, Any]:
        """The one pod of *component* that is not on its way out."""
        found = self.cluster.get(
            "pods",
            f"--namespace={NAMESPACE}",
            f"--selector=app.kubernetes.io/component={component}",
        )["items"]
        (pod,) = [one for one in found if "deletionTimestamp" not in one["metadata"]]
        return dict(pod)

    def restarts(self, component: str) -> dict[str, int]:
        statuses = self.pod_of(component)["status"]["containerStatuses"]
        return {status["name"]: status["restartCount"] for status in statuses}


def install(
    cluster: Cluster,
    node: AnyNode,
    image: ImageStore,
    vault: Vault,
    *,
    brain: str = "",
    look_s: float = 1.0,
) -> Installation:
    """Everything of `deploy/`, with further settings of the *brain*, and return when it is ready. *look_s*: how often
    an agent on a real CPU looks."""
    return installed(cluster, node, image, vault, place_on(cluster, node, vault, brain, look_s))


def place_on(
    cluster: Cluster, node: AnyNode, vault: Vault, brain: str = "", look_s: float = 1.0
) -> Place:
    """Ports and settings for an installation of this tree."""
    ports = {name: free_port() for name in ("console", "uplink", "https", *METRICS.values())}
    node.expose(ports.values())
    node.reach(vault.port)
    return Place(
        kubelet_root=node.kubelet_root,
        settings=_settings(node, vault, ports, brain, look_s),
        ports=ports,
        # No kube-proxy runs there that would lead from the Service to the API server.
        environment={
            "KUBERNETES_SERVICE_HOST": LOOPBACK,
            "KUBERNETES_SERVICE_PORT_HTTPS": str(cluster.port),
        },
        emulated=node.emulated,
    )


def installed(
    cluster: Cluster, node: AnyNode, image: ImageStore, vault: Vault, place: Place
) -> Installation:
    """What *place* says, with images built of its tree, once it is ready."""
    image.from_dockerfile(place.tree, place.tree / "Dockerfile.agent", agent(place.tag))
    image.from_dockerfile(place.tree, place.tree / "Dockerfile.controller", controller(place.tag))
    cluster.apply(*documents(place))
    for workload in WORKLOADS:
        try:
            cluster.kubectl(
                "rollout", "status", workload, f"--namespace={NAMESPACE}", f"--timeout={READY_S}s",
                within_s=READY_S + 10,
            )  # fmt: skip
        except KubectlError as error:
            raise AssertionError(f"{error}\n{said(cluster)}") from error
    authority = cluster.get("configmap", "nemutator-ca", f"--namespace={NAMESPACE}")
    # A second installation of one run has a file of its own.
    ca_file = cluster.run.file(
        f"nemutator-ca-{secrets.token_hex(4)}.crt", authority["data"]["ca.crt"]
    )
    installation = Installation(cluster, node, vault, dict(place.ports), ca_file)
    until(lambda: _webhooks_are_ours(cluster), "the webhooks know our authority", within_s=READY_S)
    return installation


def uninstall(cluster: Cluster) -> None:
    """Take everything away again as a person does, and wait until it is."""
    done = uninstalling(cluster, "--delete-data", "--delete-definitions")
    assert done.returncode == 0, done.stderr


def uninstalling(cluster: Cluster, *options: str) -> subprocess.CompletedProcess[str]:
    """What `nemutator uninstall` with *options* says."""
    return subprocess.run(
        [sys.executable, "-m", "nemutator_ctl", "uninstall", f"--timeout={GONE_S}s", *options],
        env={"PATH": os.defpath, "HOME": "/nonexistent", "KUBECONFIG": str(cluster.kubeconfig)},
        capture_output=True,
        text=True,
        timeout=GONE_S + CALL_S,
        check=False,
    )


def delete_namespaces(cluster: Cluster, *names: str) -> None:
    """With all that is in them, and return when it has gone."""
    # A namespace that still has pods is looked at again only after half their grace period.
    kinds = "deployment,statefulset,daemonset,pod"
    for name in names:
        workloads = ("delete", "--all", kinds, f"--namespace={name}", "--cascade=foreground")
        cluster.kubectl(*workloads, f"--timeout={GONE_S}s", within_s=GONE_S + 10)
    cluster.kubectl("delete", "namespace", *names, f"--timeout={GONE_S}s", within_s=GONE_S + 10)


def with_sample(image: ImageStore, folder: Path) -> None:
    """The sample service as an image of nothing but itself."""
    ran = subprocess.run(
        [REPOSITORY / "scripts" / "sample", "--path"], capture_output=True, text=True, check=True
    )
    shutil.copy(REPOSITORY / ran.stdout.strip(), folder / "shop")
    image.from_folder(folder, SAMPLE, entrypoint=["/shop"])


def said(cluster: Cluster, namespace: str = NAMESPACE) -> str:
    """What the pods of *namespace* are doing, and the last words of their containers."""
    where = f"--namespace={namespace}"
    told = [cluster.kubectl("get", "pods", where, "--output=wide")]
    for pod in cluster.get("pods", where)["items"]:
        name = pod["metadata"]["name"]
        statuses = pod["status"].get("containerStatuses", [])
        told.append(f"{name}: {json.dumps([status['state'] for status in statuses])}")
        for container in pod["spec"]["containers"]:
            with contextlib.suppress(KubectlError):
                log = cluster.kubectl("logs", name, container["name"], where, "--tail=15")
                told.append(f"--- {name} {container['name']}\n{log}")
    events = cluster.get("events", where)["items"]
    told += [
        f"{event['reason']}: {event['message']}" for event in events if event["type"] != "Normal"
    ]
    return "\n".join(told)


def _webhooks_are_ours(cluster: Cluster) -> bool:
    found = cluster.get("mutatingwebhookconfiguration", "nemutator")
    return all("caBundle" in webhook["clientConfig"] for webhook in found["webhooks"])


def _settings(
    node: AnyNode, vault: Vault, ports: Mapping[str, int], of_brain: str, look_s: float
) -> str:
    brain = f"https://{LOOPBACK}:{ports['uplink']}"
    look_s, often_s, windows_s = (5, 5, 120) if node.emulated else (look_s, 1, 10)
    # The loopback of another machine is not to be reached from here.
    address = "0.0.0.0" if node.emulated else LOOPBACK
    metrics = {role: f'metrics = "{address}:{ports[name]}"' for role, name in METRICS.items()}
    return f"""\
[brain]
{metrics["brain"]}
# Readings come more often than usual, too.
ageing_after_s = 20
uplink = "0.0.0.0:{ports["uplink"]}"
cluster_console = "0.0.0.0:{ports["console"]}"
server_names = "{LOOPBACK}"
{of_brain}
[admission]
{metrics["admission"]}
address = "0.0.0.0:{ports["https"]}"
brain = "{brain}"
init_image = "{AGENT}"

[credentials]
{metrics["credentials"]}
vault_address = "{vault.url}"
# So that a change is seen within a test.
check_s = 2
brain = "{brain}"
audit_key_file = "/var/run/nemutator-audit/keys"

[observe]
{metrics["observe"]}
brain = "{brain}"
interval_s = {look_s}
# So that there are enough points for advice within a test.
summary_s = {often_s}
# So that a pod is old, and its windows come, within a test.
window_age_s = 5
window_every_s = {windows_s}
window_cpu_s = 3
window_cpu_every_s = {windows_s}
window_cpu_percent = 100

[mount]
{metrics["mount"]}
kubelet_root = "{node.kubelet_root}"
"""
