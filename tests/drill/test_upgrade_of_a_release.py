"""A release of the chart of the version before becomes one of this version, goes back, and becomes one again.

Its pods find no node: what they do when they run is `test_upgrade.py`'s question, and what is asked here is what Helm and
the API server make of two charts.
"""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scripts.chart import CHART
from tests.drill import version_before
from tests.e2e.first_light.installation import NAMESPACE, uninstall
from tests.e2e.first_light.manifests import REPOSITORY
from tests.e2e.testbed.webhook import policy
from tests.testbed.building import made
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.control_plane import Cluster, KubectlError
from tests.testbed.parts.helm import Helm
from tests.testbed.running.waiting import until

pytestmark = pytest.mark.timeout(900)

Json = dict[str, Any]

WHERE = f"--namespace={NAMESPACE}"
HOOK = ("mutatingwebhookconfiguration", "nemutator")
BUNDLE = "QUJD"
WIDE = ("ClusterRole", "ClusterRoleBinding", "CSIDriver", "CustomResourceDefinition")
"""Kinds that lie in no namespace."""
KINDS = ("Deployment", "DaemonSet", "StatefulSet", "ConfigMap", "Service", "Role", *WIDE)
NOWHERE = tuple(
    f"--set={part}.nodeSelector.runs=nowhere" for part in ("agent", "admission", "brain")
)


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The chart of the version before."""
    with skipped_when_missing():
        made.helm()
        commit = version_before.found()
    print("the version before:", commit)
    (tmp_path / "tree").mkdir()
    return version_before.unpacked(commit, tmp_path / "tree") / CHART.relative_to(REPOSITORY)


@pytest.fixture
def helm(cluster: Cluster, tmp_path: Path) -> Iterator[Helm]:
    labels = {"pod-security.kubernetes.io/enforce": "privileged"}
    namespace = {"name": NAMESPACE, "labels": labels}
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": namespace})
    helm = Helm(tmp_path, cluster.kubeconfig)
    yield helm
    if "nemutator" in helm.run("list", "--short", WHERE):
        helm.run("uninstall", "nemutator", WHERE)
    uninstall(cluster)


def said_by(helm: Helm, chart: Path) -> set[tuple[str, str]]:
    return {(one["kind"], one["metadata"]["name"]) for one in helm.template(chart)}


def there(cluster: Cluster) -> set[tuple[str, str]]:
    return {
        (kind, one["metadata"]["name"])
        for kind in KINDS
        for one in cluster.get(kind, *(() if kind in WIDE else (WHERE,)))["items"]
    }


def of_ours(names: set[tuple[str, str]]) -> set[tuple[str, str]]:
    return {(kind, name) for kind, name in names if kind in KINDS}


def test_a_release_of_the_chart_before_becomes_one_of_this(
    cluster: Cluster, helm: Helm, before: Path
) -> None:
    helm.run("install", "nemutator", before, WHERE, *NOWHERE)
    assert of_ours(said_by(helm, before)) <= there(cluster)
    stays = policy("stays", "shop", {"labels": {"set": {"team": "a"}}}, mode="Preview")
    until(lambda: is_applied(cluster, stays), "the definition is established", within_s=60)
    bundle = {"op": "add", "path": "/webhooks/0/clientConfig/caBundle", "value": BUNDLE}
    cluster.kubectl("patch", *HOOK, "--type=json", "--patch", json.dumps([bundle]))

    helm.run("upgrade", "nemutator", CHART, WHERE, *NOWHERE)
    assert of_ours(said_by(helm, CHART)) <= there(cluster)
    helm.run("rollback", "nemutator", "1", WHERE)
    assert of_ours(said_by(helm, before)) <= there(cluster)
    helm.run("upgrade", "nemutator", CHART, WHERE, *NOWHERE)
    assert of_ours(said_by(helm, CHART)) <= there(cluster)

    webhooks = cluster.get(*HOOK)["webhooks"]
    assert webhooks[0]["clientConfig"]["caBundle"] == BUNDLE
    kept = cluster.get("mutationpolicies")["items"]
    assert [each["metadata"]["name"] for each in kept] == ["stays"]
    history: list[Json] = json.loads(helm.run("history", "nemutator", WHERE, "--output=json"))
    assert [one["status"] for one in history] == [*["superseded"] * 3, "deployed"]
    print([(one["revision"], one["description"]) for one in history])


def is_applied(cluster: Cluster, document: Json) -> bool:
    with contextlib.suppress(KubectlError):
        cluster.apply(document)
        return True
    return False
