"""A team's namespace on the testbed: opted in, under the restricted standard, with Vault behind it."""

import contextlib
import json
from dataclasses import dataclass, field
from typing import Any

from nemutator_common.secret import Secret

from tests.e2e.first_light.installation import SAMPLE, Installation, said
from tests.e2e.first_light.manifests import AGENT
from tests.testbed.parts.control_plane import KubectlError
from tests.testbed.parts.postgres import Postgres, SqlError
from tests.testbed.parts.vault import VaultRefusedError
from tests.testbed.running.waiting import until

NAMESPACE = "shop"
OTHERS = "others"

PASSWORD = "correct horse battery staple"
ANNOTATIONS = {
    "nemutator.io/secret.db": f"secret/{NAMESPACE}/db#password",
    "nemutator.io/secret.whole": f"secret/{NAMESPACE}/db",
    "nemutator.io/env.DB_USER": f"secret/{NAMESPACE}/db#user",
    "nemutator.io/on-rotate": "signal:HUP@app",
}

USER = 10001
GROUP = 10002
"""Of the pods, which their files are for."""

DATABASE = f"{NAMESPACE}-database"
"""Where Vault lends users of PostgreSQL."""

READS_AGAIN = """\
import json, signal, sys
def read(*_):
    with open(f"/run/nemutator/secrets/{sys.argv[1]}") as file:
        found = json.load(file)
    del found["password"]
    print("read", json.dumps(found), flush=True)
signal.signal(signal.SIGHUP, read)
read()
while True:
    signal.pause()
"""
"""An application that reads its file when it starts, and when it is told to."""

READY_S = 900
REACHED_S = 900.0
"""On an emulated CPU: on a real one a tenth of them."""

ASK = """\
import http.client, socket, sys, time
for _ in range(100):
    connection = http.client.HTTPConnection("agent", timeout=240)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.settimeout(240)
    connection.sock.connect("/run/nemutator/agent.sock")
    connection.request("GET", sys.argv[1])
    answer = connection.getresponse()
    body = answer.read().decode()
    if '"step": "start"' not in body:
        break
    time.sleep(0.2)
print(answer.status)
print(body)
"""
"""Run in a container, by the Python that our image brings. Before Linux 6.5 a process that has only just
started is asked to connect again."""

PLUGIN = "plugins/agent.nemutator.io"

ASK_FROM_NODE = """\
import http.client, os, pathlib, socket, sys
plugin, uid = pathlib.Path(sys.argv[1]), sys.argv[2]
(record,) = [path for path in (plugin / "records").iterdir() if uid in path.read_text()]
connection = http.client.HTTPConnection("agent", timeout=240)
connection.sock = socket.socket(socket.AF_UNIX)
# The path itself is longer than an address may be.
os.chdir(plugin / "volumes" / record.stem)
connection.sock.connect("agent.sock")
connection.request("GET", "/v1/secret/db")
answer = connection.getresponse()
print(answer.status)
print(answer.read().decode())
"""
"""Run in no pod, with the folder of our plugin and a pod's uid."""

WAITS = "import signal; signal.pause()"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: str

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Team:
    installation: Installation
    token: str = field(repr=False)
    """Of an operator: may see and change all that the console shows."""

    def get(self, *arguments: str, namespace: str = NAMESPACE) -> Any:
        return self.installation.cluster.get(*arguments, f"--namespace={namespace}")

    def kubectl(self, *arguments: str, namespace: str = NAMESPACE) -> str:
        return self.installation.cluster.kubectl(
            f"--namespace={namespace}", *arguments, within_s=READY_S + 30
        )

    def pods(self, app: str) -> list[Json]:
        found = self.get("pods", f"--selector=app={app}")["items"]
        return [pod for pod in found if "deletionTimestamp" not in pod["metadata"]]

    def ask(self, pod: str, path: str, *, namespace: str = NAMESPACE) -> Reply:
        """What the agent answers to a process in *pod*, over the pod's own socket."""
        said = self.installation.cluster.kubectl(
            "exec", pod, "--container=app", f"--namespace={namespace}", "--",
            "python", "-c", ASK, path,
            within_s=READY_S,
        )  # fmt: skip
        status, _, body = said.partition("\n")
        return Reply(int(status), body.strip())

    def has_read(self, app: str) -> list[Json]:
        """What its process has found in its file at each reading, but for passwords."""
        log = self.kubectl("logs", f"deployment/{app}", "--container=app")
        words = [line.partition(" ") for line in log.splitlines()]
        return [json.loads(found) for first, _, found in words if first == "read"]

    def items(self, what: str) -> list[Json]:
        return self.installation.items(f"/api/v1/{what}", token=self.token)

    def vault_tokens(self) -> list[Json]:
        """Tokens that are good now and belong to a service account of the team's."""
        vault = self.installation.vault
        listed = vault.call("LIST", "auth/token/accessors")["data"]["keys"]
        metas = []
        for accessor in listed:
            # One that was revoked since the list was made is refused.
            with contextlib.suppress(VaultRefusedError):
                found = vault.call("POST", "auth/token/lookup-accessor", {"accessor": accessor})
                metas.append(found["data"].get("meta") or {})
        return [meta for meta in metas if meta.get("service_account_namespace") == NAMESPACE]


def found(installation: Installation) -> Team:
    """Make the namespaces, the policy of Vault and of mutation, and an operator."""
    cluster, vault = installation.cluster, installation.vault
    vault.call(
        "POST", f"secret/data/{NAMESPACE}/db", {"data": {"user": "app", "password": PASSWORD}}
    )
    rules = "".join(
        f'path "{path}/*" {{ capabilities = ["read"] }}\n'
        for path in (f"secret/data/{NAMESPACE}", f"{DATABASE}/creds")
    )
    vault.policy(NAMESPACE, rules)
    vault.policy(OTHERS, f'path "secret/data/{OTHERS}/*" {{ capabilities = ["read"] }}')
    for namespace in (NAMESPACE, OTHERS):
        # As the agent asks for it by default: {namespace}.{service account}.
        vault.role(
            f"{namespace}.default",
            namespace=namespace,
            service_account="default",
            policies=[namespace],
        )
    cluster.apply(_namespace(NAMESPACE, inject=True), _namespace(OTHERS, inject=False), policy())
    cluster.kubectl("create", "serviceaccount", "operator", f"--namespace={OTHERS}")
    cluster.kubectl(
        "create", "clusterrolebinding", "operators", "--clusterrole=nemutator-operator",
        f"--serviceaccount={OTHERS}:operator",
    )  # fmt: skip
    team = Team(installation, cluster.token(OTHERS, "operator"))
    until(
        lambda: installation.console("/api/v1/mutations", token=team.token).status == 200,
        "the operator may look",
        within_s=REACHED_S,
    )
    return team


def deployment(
    name: str, replicas: int = 1, *, annotations: Json = ANNOTATIONS, reads: str = "whole"
) -> Json:
    """Something that waits, in our image because that has a Python; declares what it needs."""
    container = {
        "name": "app",
        "image": AGENT,
        "imagePullPolicy": "Never",
        "command": ["python", "-c", READS_AGAIN, reads],
        "securityContext": restricted(),
        "resources": {"requests": {"cpu": "200m", "memory": "64Mi"}},
    }
    return _deployment(name, replicas, container, annotations)


def sample() -> Json:
    """The sample service, which burns CPU in functions with names."""
    container = {
        "name": "shop",
        "image": SAMPLE,
        "imagePullPolicy": "Never",
        # Go records one leak in thirty of its size, where its own setting does not have it record all.
        "env": [{"name": "GODEBUG", "value": "memprofilerate=4096"}],
        "securityContext": restricted(),
        "resources": {"requests": {"cpu": "400m", "memory": "128Mi"}},
    }
    return _deployment("sample", 1, container, {"nemutator.io/skip-mutation": "resources"})


def restricted() -> Json:
    return {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def by_hand(name: str) -> Json:
    """A pod of the others that writes our volume itself, and asks for the team's secret."""
    attributes = {"secret.db": f"secret/{NAMESPACE}/db#password"}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": OTHERS},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [
                {
                    "name": "app",
                    "image": AGENT,
                    "imagePullPolicy": "Never",
                    "command": ["python", "-c", WAITS],
                    "volumeMounts": [{"name": "agent", "mountPath": "/run/nemutator"}],
                }
            ],
            "volumes": [
                {
                    "name": "agent",
                    "csi": {"driver": "agent.nemutator.io", "volumeAttributes": attributes},
                }
            ],
        },
    }


def _namespace(name: str, *, inject: bool) -> Json:
    labels = {"nemutator.io/inject": "enabled"} if inject else {}
    if inject:
        labels["pod-security.kubernetes.io/enforce"] = "restricted"
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def policy() -> Json:
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": "teams"},
        "spec": {
            "match": {"namespaces": [NAMESPACE]},
            "mode": "Apply",
            "mutations": [
                {"labels": {"set": {"team": "shop", "cost-centre": "4711"}}},
                {"resources": {"requests": {"cpu": {"ratio": 0.25}}}},
            ],
        },
    }


def _deployment(name: str, replicas: int, container: Json, annotations: Json) -> Json:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas,
            "progressDeadlineSeconds": READY_S,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": annotations},
                "spec": {
                    "securityContext": {"fsGroup": GROUP},
                    "containers": [container],
                    "terminationGracePeriodSeconds": 1,
                },
            },
        },
    }


def ready(team: Team, name: str) -> None:
    try:
        team.kubectl("rollout", "status", f"deployment/{name}", f"--timeout={READY_S}s")
    except KubectlError as error:
        cluster = team.installation.cluster
        raise AssertionError(f"{error}\n{said(cluster, NAMESPACE)}\n{said(cluster)}") from error


def only(found: list[Any]) -> Any:
    (one,) = found
    return one


def answers(team: Team, pod: str) -> bool:
    with contextlib.suppress(KubectlError):
        return team.ask(pod, "/v1/secret/db").status == 200
    return False


def may_log_in(team: Team, postgres: Postgres) -> bool:
    """Until it is tried, another user may have taken the place of the one that was read."""
    where = "/run/nemutator/secrets/pg"
    read = ("exec", "deployment/borrower", "--container=app", "--", "cat", where)
    lent = json.loads(team.kubectl(*read))
    user, password = lent["username"], Secret(lent["password"])
    with contextlib.suppress(SqlError):
        return bool(postgres.sql("SELECT current_user", user=user, password=password) == user)
    return False
