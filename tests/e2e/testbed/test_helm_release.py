"""A release of the chart on a real API server: installed, changed, taken back, and taken away."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from scripts.chart import CHART
from tests.e2e.testbed.test_helm import NAMESPACE, Json, named
from tests.e2e.testbed.webhook import policy
from tests.testbed.building import made
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.helm import Helm
from tests.testbed.running.waiting import until


@pytest.fixture
def released(cluster: Cluster, tmp_path: Path) -> Iterator[Helm]:
    """Helm with an installation on the real API server, which is gone afterwards."""
    with skipped_when_missing():
        made.helm()
    helm = Helm(tmp_path, cluster.kubeconfig)
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}
    cluster.apply(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": labels}}
    )
    try:
        # Tests before this one have defined policies and made accounts, which Helm leaves alone unless it is told to take them.
        helm.run("install", "nemutator", CHART, f"--namespace={NAMESPACE}", "--take-ownership")
        yield helm
    finally:
        remains = ("--ignore-not-found", "--timeout=60s")
        cluster.kubectl("delete", "mutatingwebhookconfiguration", "nemutator", *remains)
        if "nemutator" in helm.run("list", "--short", f"--namespace={NAMESPACE}"):
            helm.run("uninstall", "nemutator", f"--namespace={NAMESPACE}")
        cluster.kubectl("delete", "namespace", NAMESPACE, *remains, within_s=120)
        for plural in ("mutationpolicies", "sizingpolicies"):
            crd = f"customresourcedefinition/{plural}.nemutator.io"
            cluster.kubectl("delete", crd, *remains, within_s=120)


@pytest.mark.timeout(600)
def test_a_release_is_installed_changed_and_taken_away(cluster: Cluster, released: Helm) -> None:
    where = f"--namespace={NAMESPACE}"
    there = named(cluster.get("all", where)["items"])
    assert {
        ("DaemonSet", "nemutator-agent"),
        ("Deployment", "nemutator-admission"),
        ("StatefulSet", "nemutator-brain"),
    } <= set(there)

    # What the brain writes there is kept: its authority, and the rules for templates.
    bundle = "QUJD"
    cluster.kubectl(
        "patch", "mutatingwebhookconfiguration", "nemutator", "--type=json",
        "--patch", json.dumps([
            {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": bundle},
        ]),
    )  # fmt: skip
    stays = policy("stays", "shop", {"labels": {"set": {"team": "a"}}}, mode="Preview")
    until(lambda: _applied(cluster, stays), "the definition is established", within_s=60)

    released.run(
        "upgrade", "nemutator", CHART, where, "--set=settings.brain.profiles=77",
        "--set=admission.replicas=3",
    )  # fmt: skip
    changed = cluster.get("configmap", "nemutator-settings", where)
    assert tomllib.loads(changed["data"]["settings.toml"])["brain"] == {"profiles": 77}
    assert cluster.get("deployment", "nemutator-admission", where)["spec"]["replicas"] == 3
    webhooks = cluster.get("mutatingwebhookconfiguration", "nemutator")["webhooks"]
    assert webhooks[0]["clientConfig"]["caBundle"] == bundle

    released.run("rollback", "nemutator", "1", where)
    before = cluster.get("configmap", "nemutator-settings", where)
    assert "brain" not in tomllib.loads(before["data"]["settings.toml"])

    said = released.run("uninstall", "nemutator", where, "--debug")
    order = re.findall(r'Starting delete for "\S+" (\w+)', said)
    assert order[0] == "MutatingWebhookConfiguration", said
    assert order.count("Deployment") == 1
    assert not _webhooks(cluster)
    kept = cluster.get("mutationpolicies")["items"]
    assert [each["metadata"]["name"] for each in kept] == ["stays"]
    assert not cluster.get("csidrivers")["items"]


def _applied(cluster: Cluster, document: Json) -> bool:
    try:
        cluster.apply(document)
    except KubectlError:
        return False
    return True


def _webhooks(cluster: Cluster) -> list[str]:
    """Ours, after Helm has made and taken away the one that asks nobody."""
    found = cluster.get("mutatingwebhookconfigurations")["items"]
    return [each["metadata"]["name"] for each in found if each["metadata"]["name"] == "nemutator"]
