"""`nemutator install` and `uninstall` on a real API server with its controllers, and beside the chart in real Helm."""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nemutator_common import names
from nemutator_controller.scaling.marks import RaisedMark

from scripts.chart import CHART
from tests.e2e.testbed.test_helm import NAMESPACE, Json, named, values
from tests.testbed.building import made
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.control_plane import Cluster
from tests.testbed.parts.helm import Helm
from tests.testbed.running.waiting import until

CHOICES: dict[str, Json] = {
    "nothing": {},
    "profiles and advice": {"credentials": {"enabled": False}, "admission": {"enabled": False}},
    "the webhook alone": {"credentials": {"enabled": False}, "observe": {"enabled": False}},
    "another place": {
        "kubeletRoot": "/var/lib/k0s/kubelet",
        "images": {"registry": "registry.example", "agent": {"digest": "sha256:" + "0" * 64}},
        "imagePullPolicy": "Always",
        "imagePullSecrets": [{"name": "pull"}],
        "resources": {"brain": {"limits": {"memory": "4Gi"}}},
        "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
        "brain": {"storage": {"size": "20Gi", "className": "fast"}, "nodeSelector": {"a": "b"}},
        "admission": {"replicas": 5, "tolerations": [{"operator": "Exists"}]},
        "agent": {"nodeSelector": {"a": "b"}},
        "priorityClasses": False,
        "networkPolicy": {"enabled": False},
        "crds": {"install": False},
        "vault": {"ca": "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----"},
        "settings": {"log_level": "debug", "brain": {"profiles": 77, "session_s": 90.5}},
    },
    "every part": {
        "scheduler": {"enabled": True, "image": "example/kube-scheduler:v1", "replicas": 1},
        "buffer": {"enabled": True, "image": "example/pause:1"},
        "nodes": {"enabled": True},
        "brain": {"storage": {"enabled": False}},
        "metrics": {
            "enabled": True,
            "namespace": "observability",
            "podMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
            "rules": {"enabled": True},
            "dashboards": {"enabled": True},
        },
    },
}


def nemutator(*words: str | Path, **environment: str) -> str:
    ran = subprocess.run(
        [sys.executable, "-m", "nemutator_ctl", *words],
        env={"PATH": os.defpath, "HOME": "/nonexistent", **environment},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def comparable(document: Json) -> Json:
    """Without what Helm alone needs, and with texts as they are read."""
    template = document.get("spec", {}).get("template", {})
    assert set(template.get("metadata", {}).pop("annotations", {})) <= {"checksum/settings"}
    document["metadata"].pop("annotations", None)
    if document["kind"] == "PodMonitor":
        document["spec"]["podMetricsEndpoints"].sort(key=lambda each: str(each["port"]))
    if document["kind"] == "ConfigMap":
        document["data"] = {
            name: tomllib.loads(text) if name.endswith(".toml") else read(text)
            for name, text in document["data"].items()
        }
    return document


def read(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text.strip()


@pytest.mark.parametrize("choice", CHOICES)
def test_it_installs_what_helm_makes_of_the_same_values(choice: str, tmp_path: Path) -> None:
    with skipped_when_missing():
        made.helm()
    file = values(tmp_path, CHOICES[choice])
    expected = named(Helm(tmp_path).template(CHART, file, "--kube-version=1.34.2"))
    dry = ("install", "--dry-run", "-o", "json", "--kube-version=1.34.2", file)
    found = named(json.loads(nemutator(*dry))["items"])
    found.pop(("Namespace", NAMESPACE))
    assert set(found) == set(expected)
    for name, document in expected.items():
        assert comparable(found[name]) == comparable(document), name


@pytest.fixture
def emptied(cluster: Cluster) -> Iterator[Cluster]:
    """Without what tests before have left, and without what this one leaves."""
    empty(cluster)
    yield cluster
    empty(cluster)


def empty(cluster: Cluster) -> None:
    remains = ("--ignore-not-found", "--timeout=60s")
    cluster.kubectl("delete", "mutatingwebhookconfiguration", "nemutator", *remains)
    cluster.kubectl("delete", "namespace", NAMESPACE, *remains, within_s=120)
    for plural in ("mutationpolicies", "sizingpolicies", "seasonpolicies"):
        crd = f"customresourcedefinition/{plural}.nemutator.io"
        cluster.kubectl("delete", crd, *remains, within_s=120)


@pytest.mark.timeout(600)
def test_a_cluster_is_installed_into_changed_and_left(emptied: Cluster) -> None:
    cluster = emptied
    where = {"KUBECONFIG": str(cluster.kubeconfig)}
    dry = nemutator("install", "--dry-run=server", **where)
    assert dry.splitlines()[0] == "namespace/nemutator created (dry run)"
    made_first = nemutator("install", "--no-wait", **where)
    assert "daemonset.apps/nemutator-agent created" in made_first
    again = nemutator("install", "--no-wait", **where)
    # A server that fills in defaults, and controllers that write statuses, are no change.
    assert not [line for line in again.splitlines() if not line.endswith(" unchanged")], again

    off = nemutator(
        *("install", "--no-wait", "--set", "credentials.enabled=false,admission.enabled=false"),
        *("--set", "settings.brain.profiles=77"),
        **where,
    )
    assert off.splitlines()[0].startswith("mutatingwebhookconfiguration.")
    space = f"--namespace={NAMESPACE}"
    (agent,) = cluster.get("daemonsets", space)["items"]
    assert [each["name"] for each in agent["spec"]["template"]["spec"]["containers"]] == ["observe"]
    until(lambda: not cluster.get("deployments", space)["items"], "admission is gone", within_s=120)
    settings = cluster.get("configmap", "nemutator-settings", space)["data"]["settings.toml"]
    assert tomllib.loads(settings)["brain"] == {"profiles": 77}

    back = nemutator("install", "--no-wait", **where)
    assert "deployment.apps/nemutator-admission created" in back
    _marked(cluster)
    gone = nemutator("uninstall", **where).splitlines()
    assert "node/marked given back" in gone
    assert not cluster.get("node", "marked")["spec"].get("taints")
    assert cluster.get("hpa", "raised", "--namespace=default")["spec"]["minReplicas"] == 2
    cluster.kubectl("delete", "node", "marked")
    cluster.kubectl("delete", "hpa", "raised", "--namespace=default")
    assert gone[0].startswith("mutatingwebhookconfiguration.")
    assert not cluster.get("all", space)["items"]
    kept = [each["metadata"]["name"] for each in cluster.get("crd")["items"]]
    assert "mutationpolicies.nemutator.io" in kept
    ours = ("clusterrole", "clusterrolebinding", "csidriver")
    left = [each["metadata"]["name"] for kind in ours for each in cluster.get(kind)["items"]]
    assert not [name for name in left if "nemutator" in name]
    nemutator("uninstall", "--delete-data", "--delete-definitions", **where)
    spaces = [each["metadata"]["name"] for each in cluster.get("namespaces")["items"]]
    assert NAMESPACE not in spaces


def _marked(cluster: Cluster) -> None:
    """A node and an autoscaler, as a brain leaves them that has gone."""
    taint = {"key": str(names.EMPTYING), "effect": "PreferNoSchedule"}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "marked", "annotations": {str(names.REMOVABLE): "nothing runs"}},
            "spec": {"taints": [taint]},
        },
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "raised", "namespace": "default"},
            "spec": {"scaleTargetRef": target, "minReplicas": 6, "maxReplicas": 9},
        },
    )
    uid = cluster.get("hpa", "raised", "--namespace=default")["metadata"]["uid"]
    mark = RaisedMark(base=2, raised=6, decision="d1", by=NAMESPACE, uid=uid).text
    annotation = f"{names.RAISED_MINIMUM}={mark}"
    cluster.kubectl("annotate", "hpa", "raised", "--namespace=default", annotation)
