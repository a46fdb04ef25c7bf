"""The control plane is a real one: it decides who may do what, calls webhooks, keeps an audit log."""

import json
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.certificates import Authority
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.tls_server import Asked, serving
from tests.testbed.running.ports import LOOPBACK
from tests.testbed.running.waiting import until

PATCH = [{"op": "add", "path": "/metadata/labels", "value": {"seen": "yes"}}]


def pod(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name},
        "spec": {
            # Nobody places it, so that no node tries to run it.
            "schedulerName": "nobody",
            "containers": [{"name": "app", "image": "app:1"}],
        },
    }


def create(cluster: Cluster, namespace: str, name: str, *more: str) -> str:
    given = json.dumps(pod(name))
    return cluster.kubectl("create", f"--namespace={namespace}", "--filename=-", *more, given=given)


def test_the_versions_are_those_that_were_built(cluster: Cluster) -> None:
    versions = json.loads(cluster.kubectl("version", "--output=json"))
    assert versions["serverVersion"]["gitVersion"] == versions["clientVersion"]["gitVersion"]
    assert versions["serverVersion"]["gitVersion"].startswith("v1.36.")


def test_roles_decide_what_a_user_may_do(cluster: Cluster, namespace: str, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "jane"
    kubeconfig.write_text(cluster.kubeconfig_of("jane"))
    as_jane = ("get", "pods", f"--namespace={namespace}", f"--kubeconfig={kubeconfig}")
    with pytest.raises(KubectlError, match='User "jane" cannot list resource "pods"'):
        cluster.kubectl(*as_jane)
    where = f"--namespace={namespace}"
    cluster.kubectl("create", "role", "reader", "--verb=list", "--resource=pods", where)
    cluster.kubectl("create", "rolebinding", "reader", "--role=reader", "--user=jane", where)

    def may() -> bool:
        """The authoriser learns of a role a moment after it was created."""
        try:
            return cluster.kubectl(*as_jane, "--output=name") == ""
        except KubectlError:
            return False

    until(may, "she may", within_s=60)


def test_a_node_may_change_itself_alone(cluster: Cluster, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "node"
    kubeconfig.write_text(cluster.kubeconfig_of("system:node:one", ["system:nodes"]))
    other = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "two"}}
    with pytest.raises(KubectlError, match='node "one" is not allowed to modify node "two"'):
        cluster.kubectl(
            "create", "--filename=-", f"--kubeconfig={kubeconfig}", given=json.dumps(other)
        )


@pytest.fixture
def webhook(cluster: Cluster, namespace: str, tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """A mutating webhook for pods of *namespace*; the requests that it got."""
    requests: list[dict[str, Any]] = []

    def answer(asked: Asked) -> bytes:
        review = json.loads(asked.body)
        requests.append(review["request"])
        review["response"] = {
            "uid": review["request"]["uid"],
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": b64encode(json.dumps(PATCH).encode()).decode(),
            "warnings": [f"patched at {asked.path}"],
        }
        return json.dumps(review).encode()

    authority = Authority("a webhook's own")
    with serving(authority, answer, tmp_path) as port:
        cluster.apply(_configuration(port, authority, namespace))
        try:
            yield requests
        finally:
            cluster.kubectl("delete", "mutatingwebhookconfiguration", namespace)


def _configuration(port: int, authority: Authority, namespace: str) -> dict[str, Any]:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["pods"],
        "operations": ["CREATE"],
    }
    hook = {
        "name": "pods.testbed.nemutator.io",
        "clientConfig": {
            "url": f"https://{LOOPBACK}:{port}/mutate",
            "caBundle": b64encode(authority.certificate.encode()).decode(),
        },
        "rules": [rule],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": namespace},
        "webhooks": [hook],
    }


def test_a_webhook_is_called_and_its_patch_is_applied(
    cluster: Cluster, namespace: str, webhook: list[dict[str, Any]]
) -> None:
    def patched() -> bool:
        """A new configuration takes effect a moment after it was accepted."""
        create(cluster, namespace, f"web-{len(seen)}")
        seen.append(cluster.get("pods", f"web-{len(seen)}", f"--namespace={namespace}"))
        return bool(seen[-1]["metadata"].get("labels") == {"seen": "yes"})

    seen: list[dict[str, Any]] = []
    until(patched, "the webhook is called", within_s=60)
    assert [request["userInfo"]["username"] for request in webhook] == ["testbed-admin"]
    assert webhook[0]["object"]["metadata"]["name"] == seen[-1]["metadata"]["name"]


def test_what_was_done_is_in_the_audit_log(cluster: Cluster, namespace: str) -> None:
    create(cluster, namespace, "audited")

    def written() -> bool:
        return any(
            event["verb"] == "create"
            and event["objectRef"].get("name") == "audited"
            and event["objectRef"]["namespace"] == namespace
            and event["requestObject"]["spec"]["containers"][0]["image"] == "app:1"
            for event in cluster.audit()
            if event.get("objectRef", {}).get("resource") == "pods" and event["level"] == "Request"
        )

    until(written, "the audit log has it", within_s=60)


def test_tokens_are_not_in_the_audit_log(cluster: Cluster, namespace: str) -> None:
    token = cluster.token(namespace, "default")
    create(cluster, namespace, "afterwards")
    until(lambda: '"afterwards"' in cluster.audit_log.read_text(), "it is written", within_s=60)
    assert '"serviceaccounts"' in cluster.audit_log.read_text()
    assert token not in cluster.audit_log.read_text()
