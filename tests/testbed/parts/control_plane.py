"""A Kubernetes control plane on loopback: etcd, API server, controller manager, scheduler.

With RBAC and Node authorisation, an audit log, and aggregation that dials endpoints itself, since
no kube-proxy runs here.
"""

import functools
import http.client
import json
import os
import secrets
import shlex
import subprocess
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.certificates import Authority, Leaf, signing_key
from tests.testbed.building import made
from tests.testbed.parts.asking import ask, is_well
from tests.testbed.parts.kubeconfigs import kubeconfig, webhook_kubeconfig
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.run import Run
from tests.testbed.running.waiting import until

READY_S = 60.0
CALL_S = 120.0
"""The API server asks webhooks first, which an emulated node takes its time to answer."""
WITHOUT_COLLECTIONS = {"GOGC": "off", "GOMEMLIMIT": "512MiB"}
"""Of memory that Go does not need: tests start kubectl hundreds of times, and this was a fifth of what each start took."""
SERVICES = "10.213.0.0/16"
PODS = "10.214.0.0/16"

AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  # What a token or a secret says is nobody's business, in a log least of all.
  - level: Metadata
    resources: [{group: "", resources: [secrets, serviceaccounts/token]}]
  - level: Metadata
    resources: [{group: authentication.k8s.io}]
  - level: Request
    verbs: [create, update, patch, delete, deletecollection]
  - level: Metadata
"""


class KubectlError(Exception):
    """kubectl has refused or failed; what it said."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """How to reach the control plane, and how to see what it did."""

    run: Run
    port: int
    authority: Authority
    ca_file: Path
    kubeconfig: Path
    """Of an administrator, with a client certificate."""
    admin_token: str = field(repr=False)
    audit_log: Path
    front_proxy: Authority
    """Signs the certificate that the API server shows to aggregated servers and webhooks."""
    etcd_url: str
    """Without TLS: what a test must do behind the API server's back, as compaction does."""

    @property
    def url(self) -> str:
        return f"https://{LOOPBACK}:{self.port}"

    def kubectl(self, *arguments: str, given: str | None = None, within_s: float = CALL_S) -> str:
        """What kubectl prints; its own caches stay in the run."""
        ran = subprocess.run(
            [made.kube(), "kubectl", *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=within_s,
            check=False,
            env={
                "PATH": os.defpath,
                "HOME": str(self.run.directory),
                "KUBECONFIG": str(self.kubeconfig),
                **WITHOUT_COLLECTIONS,
                **self.run.mark,
            },
        )
        if ran.returncode != 0:
            raise KubectlError(f"kubectl {shlex.join(arguments)}: {ran.stderr or ran.stdout}")
        return ran.stdout

    def apply(self, *documents: object) -> None:
        """All at once, in their order: each start of kubectl is a quarter of a second."""
        together = {"apiVersion": "v1", "kind": "List", "items": documents}
        self.kubectl("apply", "--filename=-", given=json.dumps(together))

    def get(self, *arguments: str) -> Any:
        """The object or list, as kubectl names it."""
        return json.loads(self.kubectl("get", *arguments, "--output=json"))

    def token(self, namespace: str, service_account: str, *, audience: str = "") -> str:
        """A token of a service account, as the TokenRequest API gives it."""
        audiences = [f"--audience={audience}"] if audience else []
        return self.kubectl(
            "create", "token", service_account, f"--namespace={namespace}", *audiences
        ).strip()

    def audit(self, about: Collection[str] = ("",)) -> Iterator[dict[str, Any]]:
        """What the API server has written down about who asked for what, where one of these words is in it."""
        # It begins a new file when one has become large.
        older = sorted(self.audit_log.parent.glob("audit-*.log"))
        for file in (*older, self.audit_log):
            with file.open() as lines:
                yield from (json.loads(line) for line in lines if any(one in line for one in about))

    def kubeconfig_of(self, user: str, groups: Sequence[str] = ()) -> str:
        """Somebody else's kubeconfig, by a client certificate."""
        return kubeconfig(self.url, self.authority.certificate, self.authority.client(user, groups))

    def ask(self, path: str, *, method: str = "GET", given: object = None) -> tuple[int, str]:
        """The administrator's question: status and body."""
        return ask(
            self.port,
            path,
            ca_file=self.ca_file,
            token=self.admin_token,
            method=method,
            given=given,
        )


def begin(run: Run) -> Cluster:
    """Start all four parts in *run* and return when they are ready."""
    authority = Authority("nemutator testbed")
    port = free_port()
    token = secrets.token_hex(16)
    ca_file = run.file("pki/ca.crt", authority.certificate, mode=0o644)
    run.folder("audit")
    etcd_url, _ = start_etcd(run)
    cluster = Cluster(
        run=run,
        port=port,
        authority=authority,
        ca_file=ca_file,
        kubeconfig=run.file(
            "admin.kubeconfig",
            kubeconfig(
                f"https://{LOOPBACK}:{port}",
                authority.certificate,
                authority.client("testbed-admin", ["system:masters"]),
            ),
        ),
        admin_token=token,
        audit_log=run.directory / "audit" / "audit.log",
        # A second authority: who aggregates must not be taken for a user of the same name.
        front_proxy=Authority("nemutator testbed front proxy"),
        etcd_url=etcd_url,
    )
    _start_api_server(cluster)
    _start_controllers(cluster)
    return cluster


def start_etcd(run: Run, *more: str) -> tuple[str, Daemon]:
    """Where it answers. *more* are options of its own."""
    client, peer = free_port(), free_port()
    url, peer_url = f"http://{LOOPBACK}:{client}", f"http://{LOOPBACK}:{peer}"
    daemon = run.daemon(
        "etcd",
        [
            made.kube(), "etcd",
            f"--data-dir={run.folder('etcd')}",
            f"--listen-client-urls={url}", f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peer_url}", f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=default={peer_url}",
            # Nothing of it outlives the run, so no power cut has to be survived.
            "--unsafe-no-fsync",
            "--log-level=warn",
            *more,
        ],
        ready=lambda: is_well(client, "/health"),
        within_s=READY_S,
    )  # fmt: skip
    return url, daemon


def _start_api_server(cluster: Cluster) -> None:
    run, authority = cluster.run, cluster.authority
    serving = authority.server(LOOPBACK, "localhost", "kubernetes.default.svc")
    signing, verifying = signing_key()
    token_line = f"{cluster.admin_token},testbed-admin,testbed-admin,system:masters\n"
    kubelet_client = authority.client("testbed-api-server", ["system:masters"])
    proxy_client = cluster.front_proxy.client("front-proxy")
    proxy_ca_file = run.file("pki/proxy-ca.crt", cluster.front_proxy.certificate)
    run.daemon(
        "kube-apiserver",
        [
            made.kube(), "kube-apiserver",
            f"--etcd-servers={cluster.etcd_url}",
            f"--bind-address={LOOPBACK}",
            f"--advertise-address={LOOPBACK}",
            # A service's endpoint may not be loopback, and nobody here asks for this one.
            "--endpoint-reconciler-type=none",
            f"--secure-port={cluster.port}",
            *_leaf_flags(run, "serving", serving, "tls-cert-file", "tls-private-key-file"),
            f"--client-ca-file={cluster.ca_file}",
            f"--token-auth-file={run.file('pki/tokens.csv', token_line)}",
            f"--service-account-issuer=https://{LOOPBACK}:{cluster.port}",
            f"--service-account-signing-key-file={run.file('pki/sa.key', signing)}",
            f"--service-account-key-file={run.file('pki/sa.pub', verifying)}",
            f"--service-cluster-ip-range={SERVICES}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            f"--admission-control-config-file={_webhook_client(run, proxy_client)}",
            "--allow-privileged=true",
            *_leaf_flags(
                run, "kubelet-client", kubelet_client,
                "kubelet-client-certificate", "kubelet-client-key",
            ),
            f"--kubelet-certificate-authority={cluster.ca_file}",
            "--kubelet-preferred-address-types=Hostname",
            f"--requestheader-client-ca-file={proxy_ca_file}",
            "--requestheader-allowed-names=front-proxy",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            *_leaf_flags(
                run, "proxy", proxy_client, "proxy-client-cert-file", "proxy-client-key-file"
            ),
            "--enable-aggregator-routing=true",
            f"--audit-policy-file={run.file('audit-policy.yaml', AUDIT_POLICY)}",
            f"--audit-log-path={cluster.audit_log}",
            "--profiling=false",
        ],
        ready=lambda: _is_ready(cluster),
        within_s=READY_S,
    )  # fmt: skip


def _webhook_client(run: Run, client: Leaf) -> Path:
    """What has the API server show *client*'s certificate to each webhook that asks for one."""
    shown = run.file("webhooks.kubeconfig", webhook_kubeconfig(client))
    webhooks = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "WebhookAdmissionConfiguration",
        "kubeConfigFile": str(shown),
    }
    configuration = {
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "AdmissionConfiguration",
        "plugins": [{"name": "MutatingAdmissionWebhook", "configuration": webhooks}],
    }
    return run.file("admission.yaml", json.dumps(configuration))


def _leaf_flags(
    run: Run, name: str, leaf: Leaf, certificate_flag: str, key_flag: str
) -> Iterator[str]:
    yield f"--{certificate_flag}={run.file(f'pki/{name}.crt', leaf.certificate)}"
    yield f"--{key_flag}={run.file(f'pki/{name}.key', leaf.key)}"


def _start_controllers(cluster: Cluster) -> None:
    run = cluster.run
    kubeconfigs = {
        name: run.file(f"{name}.kubeconfig", cluster.kubeconfig_of(f"system:{name}"))
        for name in ("kube-controller-manager", "kube-scheduler")
    }
    ports = {name: free_port() for name in kubeconfigs}
    special = {
        "kube-controller-manager": (
            "--use-service-account-credentials",
            f"--service-account-private-key-file={run.directory / 'pki' / 'sa.key'}",
            f"--root-ca-file={cluster.ca_file}",
            "--allocate-node-cidrs=true",
            f"--cluster-cidr={PODS}",
        ),
        "kube-scheduler": (),
    }
    daemons = {
        name: run.started(
            name,
            [
                made.kube(), name,
                f"--kubeconfig={file}",
                f"--authentication-kubeconfig={file}",
                f"--authorization-kubeconfig={file}",
                f"--bind-address={LOOPBACK}",
                f"--secure-port={ports[name]}",
                "--leader-elect=false",
                *special[name],
            ],
        )
        for name, file in kubeconfigs.items()
    }  # fmt: skip
    for name, daemon in daemons.items():
        well = functools.partial(is_well, ports[name], "/healthz", tls=True)
        daemon.wait_until(well, within_s=READY_S)
    # A pod is refused in a namespace whose default service account is not there yet.
    _wait_for_service_account(cluster)


def _wait_for_service_account(cluster: Cluster) -> None:
    path = "/api/v1/namespaces/default/serviceaccounts/default"
    until(lambda: cluster.ask(path)[0] == http.client.OK, "its controllers work", within_s=READY_S)


def _is_ready(cluster: Cluster) -> bool:
    try:
        return cluster.ask("/readyz")[0] == http.client.OK
    except OSError:
        return False
