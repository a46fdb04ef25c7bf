"""The webhook before a real API server: pods are changed as policies say, and never kept out."""

import base64
import json
import os
import ssl
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.certificates import Authority
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.running.daemons import Daemon
from tests.testbed.running.leftovers import MARK
from tests.testbed.running.ports import LOOPBACK, free_port
from tests.testbed.running.waiting import until

Json = dict[str, Any]

DEPLOY = Path(__file__).parents[3] / "deploy"
READY_S = 30.0
STAMP = "nemutator.io/mutation"
ROLE = "nemutator-admission"


@dataclass(frozen=True, slots=True)
class Webhook:
    cluster: Cluster
    daemon: Daemon
    port: int
    authority: Authority
    data: Path

    def get(self, path: str) -> tuple[int, str]:
        context = ssl.create_default_context(cadata=self.authority.certificate)
        try:
            with urllib.request.urlopen(
                f"https://{LOOPBACK}:{self.port}{path}", timeout=5, context=context
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


@pytest.fixture(scope="module")
def definition(cluster: Cluster) -> None:
    cluster.kubectl("apply", "--server-side", f"--filename={DEPLOY / 'crds'}")
    cluster.kubectl(
        "wait",
        "--for=condition=Established",
        "crd/mutationpolicies.nemutator.io",
        "--timeout=20s",
    )


@pytest.fixture(scope="module")
def webhook(
    cluster: Cluster, definition: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Webhook]:
    """The process, with the rights that its manifest gives it, called by the manifest's entries."""
    folder = tmp_path_factory.mktemp("admission")
    manifests = list(yaml.safe_load_all((DEPLOY / "manifests" / "admission.yaml").read_text()))
    cluster.kubectl("create", "namespace", "nemutator")
    cluster.apply(
        *(
            each
            for each in manifests
            if each["kind"] in ("ServiceAccount", "ClusterRole", "ClusterRoleBinding")
        )
    )
    account = folder / "serviceaccount"
    account.mkdir()
    (account / "token").write_text(cluster.token("nemutator", ROLE))
    (account / "ca.crt").write_text(cluster.ca_file.read_text())
    authority = Authority("the brain's own")
    leaf = authority.server(LOOPBACK)
    (folder / "tls.crt").write_text(leaf.certificate)
    (folder / "tls.key").write_text(leaf.key)
    port, data = free_port(), folder / "data"
    daemon = cluster.run.started(
        "admission",
        [
            # The testbed marks what it starts with a variable that is no setting of ours.
            "/usr/bin/env", f"--unset={MARK}",
            sys.executable, "-m", "nemutator_controller", "admission",
            f"--data-dir={data}", f"--address={LOOPBACK}:{port}",
            f"--tls-certificate={folder / 'tls.crt'}", f"--tls-key={folder / 'tls.key'}",
            f"--service-account={account}", "--init-image=nemutator/agent:e2e", "--strict",
        ],
        environment={
            "PATH": os.defpath,
            "KUBERNETES_SERVICE_HOST": LOOPBACK,
            "KUBERNETES_SERVICE_PORT_HTTPS": str(cluster.port),
        },
    )  # fmt: skip
    hook = Webhook(cluster, daemon, port, authority, data)

    def ready() -> bool:
        try:
            return hook.get("/readyz")[0] == 200
        except OSError:
            return False

    daemon.wait_until(ready, within_s=READY_S)
    cluster.apply(_pointed_at(port, authority))
    yield hook
    cluster.kubectl("delete", "mutatingwebhookconfiguration", "nemutator")
    cluster.kubectl("delete", "mutationpolicies", "--all")
    cluster.kubectl("delete", "namespace", "nemutator", "--wait=false")
    daemon.stop()


def _pointed_at(port: int, authority: Authority) -> Json:
    """The manifest, with this process instead of the service."""
    made: Json = yaml.safe_load((DEPLOY / "manifests" / "webhooks.yaml").read_text())
    for entry in made["webhooks"]:
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


def create(cluster: Cluster, namespace: str, thing: Json, *more: str) -> Json:
    printed = cluster.kubectl(
        "create",
        f"--namespace={namespace}",
        "--filename=-",
        "--output=json",
        *more,
        given=json.dumps(thing),
    )
    made: Json = json.loads(printed)
    return made


def policy(name: str, namespace: str, *mutations: Json, mode: str = "Apply") -> Json:
    return {
        "apiVersion": "nemutator.io/v1alpha1",
        "kind": "MutationPolicy",
        "metadata": {"name": name},
        "spec": {
            "match": {"namespaces": [namespace]},
            "mode": mode,
            "mutations": list(mutations),
        },
    }


def until_called(webhook: Webhook, namespace: str) -> None:
    """A new configuration takes effect a moment after it was accepted."""

    def called() -> bool:
        thing = pod(labels={"nemutator.io/inject": "enabled"})
        made = create(webhook.cluster, namespace, thing, "--dry-run=server")
        return "initContainers" in made["spec"]

    until(called, "the webhook is called", within_s=20)


def until_known(webhook: Webhook, namespace: str, label: str) -> None:
    """A policy takes effect when its watch event has come."""

    def known() -> bool:
        made = create(webhook.cluster, namespace, pod(), "--dry-run=server")
        return label in made["metadata"].get("labels", {})

    until(known, f"the policy that sets {label} is known", within_s=20)


@pytest.fixture
def called(webhook: Webhook, namespace: str) -> Webhook:
    until_called(webhook, namespace)
    return webhook


def test_policies_change_a_pod_and_the_record_says_what(called: Webhook, namespace: str) -> None:
    cluster = called.cluster
    cluster.apply(
        policy(
            "team",
            namespace,
            {"labels": {"set": {"team": "a"}}},
            {"annotations": {"add": {"example.org/owner": "us"}}},
            {"resources": {"requests": {"cpu": {"ratio": 0.2}}}},
        )
    )
    until_known(called, namespace, "team")
    assert called.decisions_in(namespace) == []
    made = create(cluster, namespace, pod())
    assert made["metadata"]["labels"]["team"] == "a"
    assert made["metadata"]["annotations"]["example.org/owner"] == "us"
    requests = made["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "200m", "memory": "64Mi"}
    stamp = json.loads(made["metadata"]["annotations"][STAMP])
    [decision] = called.decisions_in(namespace)
    assert decision["id"] == stamp["id"]
    assert decision["subject"]["generate_name"] == "web-"
    edits = {edit["path"]: (edit["before"], edit["after"]) for edit in decision["edits"]}
    assert edits == {
        "metadata.labels[team]": ([], ["a"]),
        "metadata.annotations[example.org/owner]": ([], ["us"]),
        "containers[name=app].resources.requests.cpu": (["1"], ["200m"]),
    }
    # What came out, made anew, comes out the same: a share is not taken twice.
    again = {key: made[key] for key in ("apiVersion", "kind", "spec")}
    again["metadata"] = {
        "name": "again",
        "labels": made["metadata"]["labels"],
        "annotations": made["metadata"]["annotations"],
    }
    same = create(cluster, namespace, again)
    assert same["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "200m"
    assert len(called.decisions_in(namespace)) == 1
    cluster.kubectl("delete", "mutationpolicy", "team")


def test_an_injected_pod_passes_the_restricted_standard(called: Webhook, namespace: str) -> None:
    cluster = called.cluster
    cluster.kubectl(
        "label",
        "namespace",
        namespace,
        "pod-security.kubernetes.io/enforce=restricted",
        "pod-security.kubernetes.io/enforce-version=latest",
        "nemutator.io/inject=enabled",
    )
    thing = pod("restricted", annotations={"nemutator.io/secret.db": "secret/app/db#password"})
    thing["spec"]["containers"][0]["securityContext"] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    made = create(cluster, namespace, thing)
    init = made["spec"]["initContainers"][0]
    assert (init["name"], init["image"]) == ("nemutator-init", "nemutator/agent:e2e")
    assert init["securityContext"]["runAsUser"] == 1000
    assert init["resources"] == {"requests": {"cpu": "1", "memory": "64Mi"}}
    [volume] = [each for each in made["spec"]["volumes"] if each["name"] == "nemutator"]
    assert volume["csi"] == {
        "driver": "agent.nemutator.io",
        "volumeAttributes": {"secret.db": "secret/app/db#password", "run-as-user": "1000"},
    }
    [mount] = [
        each
        for each in made["spec"]["containers"][0]["volumeMounts"]
        if each["name"] == "nemutator"
    ]
    assert mount == {"name": "nemutator", "mountPath": "/run/nemutator", "readOnly": True}
    assert made["status"]["qosClass"] == "Burstable"


def test_a_dry_run_is_answered_and_leaves_nothing(called: Webhook, namespace: str) -> None:
    thing = pod(labels={"nemutator.io/inject": "enabled"})
    made = create(called.cluster, namespace, thing, "--dry-run=server")
    assert made["spec"]["initContainers"][0]["name"] == "nemutator-init"
    assert called.decisions_in(namespace) == []


def test_a_preview_is_recorded_and_changes_nothing(called: Webhook, namespace: str) -> None:
    cluster = called.cluster
    mutation = {"labels": {"set": {"previewed": "yes"}}}
    cluster.apply(policy("preview", namespace, mutation, mode="Preview"))

    def recorded() -> bool:
        made = create(cluster, namespace, pod())
        assert "labels" not in made["metadata"]
        assert STAMP not in made["metadata"].get("annotations", {})
        return bool(called.decisions_in(namespace))

    until(recorded, "the preview is known", within_s=20)
    [decision] = called.decisions_in(namespace)
    assert decision["mode"] == "preview"
    assert decision["edits"][0]["path"] == "metadata.labels[previewed]"
    cluster.kubectl("delete", "mutationpolicy", "preview")


def test_what_a_pod_does_not_want_is_not_done(called: Webhook, namespace: str) -> None:
    inject = {"nemutator.io/inject": "enabled"}
    for annotations in (
        {"nemutator.io/skip": "true"},
        {"nemutator.io/skip-mutation": "containers"},
    ):
        made = create(called.cluster, namespace, pod(labels=inject, annotations=annotations))
        assert "initContainers" not in made["spec"]
    assert called.decisions_in(namespace) == []


def test_who_requires_what_cannot_be_done_is_told_so(called: Webhook, namespace: str) -> None:
    thing = pod(
        labels={"nemutator.io/inject": "required"},
        annotations={"nemutator.io/secret.db": "no reference"},
    )
    with pytest.raises(
        KubectlError, match=r"cannot be injected: annotations: secret\.db: expected"
    ):
        create(called.cluster, namespace, thing)


def test_a_warning_reaches_who_creates_the_pod(called: Webhook, namespace: str) -> None:
    thing = pod(
        labels={"nemutator.io/inject": "enabled"},
        annotations={"nemutator.io/env.TOKEN": "secret/app#token"},
    )
    url = f"/api/v1/namespaces/{namespace}/pods?dryRun=All"
    context = ssl.create_default_context(cafile=str(called.cluster.ca_file))
    request = urllib.request.Request(
        f"{called.cluster.url}{url}",
        data=json.dumps(thing).encode(),
        headers={
            "Authorization": f"Bearer {called.cluster.admin_token}",
            "Content-Type": "application/json",
        },
    )
    with urllib.request.urlopen(request, timeout=20, context=context) as answer:
        assert "nemutator: TOKEN: not in the environment" in answer.headers["Warning"]


BAD: dict[str, tuple[list[Json], str]] = {
    "no verb": ([{}], "expected exactly one of labels, annotations, resources"),
    "two verbs": (
        [{"labels": {"set": {"a": "b"}}, "annotations": {"set": {"a": "b"}}}],
        "expected exactly one of labels, annotations, resources",
    ),
    "a misspelt field": ([{"lables": {"set": {"a": "b"}}}], 'unknown field "spec.mutations'),
    "our own words": (
        [{"labels": {"set": {"nemutator.io/inject": "enabled"}}}],
        "steer nemutator itself",
    ),
    "two sources": (
        [{"resources": {"requests": {"cpu": {"value": "1", "ratio": 0.5}}}}],
        "expected exactly one of value, ratio, advice: true",
    ),
    "min above max": (
        [{"resources": {"requests": {"cpu": {"ratio": 0.5, "min": "2", "max": "1"}}}}],
        "min is above max",
    ),
    "no quantity": (
        [{"resources": {"requests": {"cpu": {"value": "much"}}}}],
        "should match",
    ),
    "nothing to do": ([], "should have at least 1 items"),
}


def test_the_api_server_refuses_policies_that_cannot_work(
    cluster: Cluster, definition: None
) -> None:
    for what, (mutations, why) in BAD.items():
        with pytest.raises(KubectlError) as refused:
            create(cluster, "default", policy("bad", "x", *mutations), "--validate=strict")
        assert why in str(refused.value), what


def test_a_policy_with_an_error_stops_nobody(called: Webhook, namespace: str) -> None:
    cluster = called.cluster
    # A label's value that the server's schema cannot judge.
    cluster.apply(policy("broken", namespace, {"labels": {"set": {"team": "not a value!"}}}))
    cluster.apply(policy("whole", namespace, {"labels": {"set": {"whole": "yes"}}}))
    until_known(called, namespace, "whole")
    made = create(cluster, namespace, pod())
    assert made["metadata"]["labels"] == {"whole": "yes"}
    assert "policy_left_aside" in called.daemon.said()
    cluster.kubectl("delete", "mutationpolicy", "broken", "whole")


def test_without_the_webhook_pods_are_let_in_as_they_are(called: Webhook, namespace: str) -> None:
    called.daemon.process.send_signal(19)  # SIGSTOP: it neither answers nor refuses
    try:
        made = create(called.cluster, namespace, pod(labels={"nemutator.io/inject": "enabled"}))
        assert "initContainers" not in made["spec"]
        with pytest.raises(KubectlError, match=r"required\.nemutator\.io"):
            create(called.cluster, namespace, pod(labels={"nemutator.io/inject": "required"}))
    finally:
        called.daemon.process.send_signal(18)


def test_its_rights_are_to_read_policies_and_namespaces(called: Webhook) -> None:
    user = f"--as=system:serviceaccount:nemutator:{ROLE}"
    for verb, resource, may in (
        ("list", "mutationpolicies.nemutator.io", True),
        ("watch", "namespaces", True),
        ("update", "mutationpolicies.nemutator.io", False),
        ("get", "secrets", False),
        ("create", "pods", False),
    ):
        try:
            said = called.cluster.kubectl("auth", "can-i", verb, resource, user).strip()
        except KubectlError:
            said = "no"
        assert said == ("yes" if may else "no"), (verb, resource)


def test_a_process_without_a_certificate_says_what_to_mend(tmp_path: Path) -> None:
    ran = subprocess.run(
        [
            sys.executable, "-m", "nemutator_controller", "admission",
            f"--data-dir={tmp_path / 'data'}", f"--tls-certificate={tmp_path / 'none'}",
            f"--tls-key={tmp_path / 'none'}", f"--address={LOOPBACK}:0",
        ],
        env={"PATH": os.defpath, "KUBERNETES_SERVICE_HOST": LOOPBACK},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 3
    assert "cannot use the certificate" in ran.stderr
