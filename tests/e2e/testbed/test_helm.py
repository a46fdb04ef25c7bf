"""The chart in real Helm: it renders what deploy/ holds, and lives on a real API server."""

import json
import re
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from nemutator_common import settings
from nemutator_controller.settings.admission import AdmissionSettings
from nemutator_controller.settings.brain import BrainSettings

from scripts.chart import CHART, DEPLOY
from tests.e2e.first_light.manifests import FOLDERS
from tests.testbed.building import made
from tests.testbed.fixtures import skipped_when_missing
from tests.testbed.parts.helm import Helm, HelmError

Json = dict[str, Any]
NAMESPACE = "nemutator"
POLICIES = "mutationpolicies.nemutator.io"


@pytest.fixture
def helm(tmp_path: Path) -> Helm:
    with skipped_when_missing():
        made.helm()
    return Helm(tmp_path)


def values(tmp_path: Path, given: Json) -> str:
    path = tmp_path / "values.json"
    path.write_text(json.dumps(given))
    return f"--values={path}"


def named(documents: Iterable[Json]) -> dict[tuple[str, str], Json]:
    return {(each["kind"], each["metadata"]["name"]): each for each in documents}


def shipped() -> dict[tuple[str, str], Json]:
    """What deploy/ holds, the Namespace excepted, which is there before a release is."""
    paths = [path for folder in FOLDERS for path in sorted(folder.iterdir())]
    found = named(one for path in paths for one in yaml.safe_load_all(path.read_text()))
    found.pop(("Namespace", NAMESPACE))
    return found


def settled(document: Json) -> Json:
    """*document* without what Helm alone needs, and with settings as they are read."""
    if document["kind"] == "ConfigMap":
        document["data"] = tomllib.loads(document["data"]["settings.toml"])
    template = document.get("spec", {}).get("template", {})
    annotations = template.get("metadata", {}).pop("annotations", {})
    assert set(annotations) <= {"checksum/settings"}
    document["metadata"].pop("annotations", None)
    return document


def told(documents: Iterable[Json]) -> Json:
    """The settings that an installation's processes read."""
    (found,) = (each for each in documents if each["metadata"]["name"] == "nemutator-settings")
    return tomllib.loads(found["data"]["settings.toml"])


def containers(documents: Iterable[Json]) -> dict[str, Json]:
    kinds = {"DaemonSet", "Deployment", "StatefulSet"}
    specs = [each["spec"]["template"]["spec"] for each in documents if each["kind"] in kinds]
    return {each["name"]: each for spec in specs for each in spec["containers"]}


def test_without_values_it_renders_what_the_manifests_hold(helm: Helm) -> None:
    rendered = named(helm.template(CHART))
    expected = shipped()
    assert set(rendered) == set(expected)
    for name, document in expected.items():
        assert settled(rendered[name]) == settled(document), name


def test_kustomize_renders_them_too() -> None:
    with skipped_when_missing():
        kube = made.kube()
    ran = subprocess.run(
        [kube, "kubectl", "kustomize", DEPLOY], capture_output=True, text=True, check=True
    )
    rendered = named(yaml.safe_load_all(ran.stdout))
    rendered.pop(("Namespace", NAMESPACE))
    assert rendered == shipped()


def test_the_chart_has_no_fault_that_helm_knows(helm: Helm) -> None:
    assert "0 chart(s) failed" in helm.run("lint", "--strict", CHART)


def test_without_credentials_no_container_is_privileged_and_nothing_is_injected(
    helm: Helm,
) -> None:
    documents = helm.template(CHART, "--set=credentials.enabled=false", "--set=vault.address=")
    found = containers(documents)
    assert set(found) == {"observe", "admission", "brain"}
    assert not any(each["securityContext"].get("privileged") for each in found.values())
    assert told(documents)["admission"]["init_image"] == ""
    assert "CSIDriver" not in {each["kind"] for each in documents}
    (agent,) = (each for each in documents if each["kind"] == "DaemonSet")
    volumes = agent["spec"]["template"]["spec"]["volumes"]
    used = {each["name"] for each in found["observe"]["volumeMounts"]}
    # Kubelet waits for every volume that a pod names, and one of those is a Secret of the others.
    assert {each["name"] for each in volumes} == used


def test_profiles_and_advice_alone_need_neither_webhook_nor_vault(helm: Helm) -> None:
    off = ("--set=credentials.enabled=false", "--set=admission.enabled=false")
    documents = helm.template(CHART, *off)
    assert set(containers(documents)) == {"observe", "brain"}
    assert "MutatingWebhookConfiguration" not in {each["kind"] for each in documents}
    assert not any("admission" in each["metadata"]["name"] for each in documents)


def test_the_webhook_alone_has_no_agent(helm: Helm) -> None:
    off = ("--set=credentials.enabled=false", "--set=observe.enabled=false")
    documents = helm.template(CHART, *off)
    assert set(containers(documents)) == {"admission", "brain"}
    assert "DaemonSet" not in {each["kind"] for each in documents}


def test_the_second_scheduler_comes_with_an_address_where_the_brain_answers_it(helm: Helm) -> None:
    with pytest.raises(HelmError, match=r"scheduler\.image"):
        helm.template(CHART, "--set=scheduler.enabled=true")
    on = ("--set=scheduler.enabled=true", "--set=scheduler.image=example/kube-scheduler:v1")
    documents = helm.template(CHART, *on)
    found = containers(documents)["scheduler"]
    assert found["image"] == "example/kube-scheduler:v1"
    assert told(documents)["brain"]["extender"] == "0.0.0.0:8423"
    rendered = named(documents)
    manifest = (DEPLOY / "scheduler" / "scheduler.yaml").read_text()
    for name, document in named(yaml.safe_load_all(manifest)).items():
        if document["kind"] != "Deployment":
            assert rendered[name] == document


def test_room_is_kept_free_by_what_the_manifest_has(helm: Helm) -> None:
    on = ("--set=buffer.enabled=true", "--set=buffer.image=example/pause:1")
    rendered = named(helm.template(CHART, *on))
    for name, document in named(
        yaml.safe_load_all((DEPLOY / "buffers" / "buffer.yaml").read_text())
    ).items():
        if document["kind"] == "Deployment":
            document["spec"]["template"]["spec"]["containers"][0]["image"] = "example/pause:1"
        assert rendered[name] == document


def test_a_process_is_scraped_where_its_policy_lets_scrapers_in(helm: Helm) -> None:
    documents = helm.template(
        CHART,
        "--set=metrics.enabled=true",
        "--set=metrics.namespace=observability",
        "--set=metrics.podMonitor.enabled=true",
        "--set=metrics.podMonitor.labels.release=prometheus",
    )
    ports = {
        port["name"]: (name, port["containerPort"])
        for name, each in containers(documents).items()
        for port in each["ports"]
        if port["name"].startswith("metrics-")
    }
    (monitor,) = (each for each in documents if each["kind"] == "PodMonitor")
    assert monitor["metadata"]["labels"] == {"release": "prometheus"}
    assert {each["port"] for each in monitor["spec"]["podMetricsEndpoints"]} == set(ports)
    for process, port in ports.values():
        assert told(documents)[process]["metrics"] == f"0.0.0.0:{port}"
    opened = {
        port["port"]: rule["from"]
        for each in documents
        if each["kind"] == "NetworkPolicy"
        for rule in each["spec"]["ingress"]
        for port in rule["ports"]
        if "from" in rule
    }
    assert set(opened) == set(ports)
    for (scrapers,) in opened.values():
        labels = scrapers["namespaceSelector"]["matchLabels"]
        assert labels == {"kubernetes.io/metadata.name": "observability"}


def test_rules_and_dashboards_come_as_the_files_that_are_shipped(helm: Helm) -> None:
    on = ("--set=metrics.rules.enabled=true", "--set=metrics.dashboards.enabled=true")
    documents = helm.template(CHART, *on)
    (rule,) = (each for each in documents if each["kind"] == "PrometheusRule")
    shipped_rules = yaml.safe_load((DEPLOY / "alerts" / "nemutator.yaml").read_text())
    assert rule["spec"] == shipped_rules
    (boards,) = (each for each in documents if each["metadata"]["name"] == "nemutator-dashboards")
    for path in (DEPLOY / "dashboards").glob("*.json"):
        assert json.loads(boards["data"].pop(path.name)) == json.loads(path.read_text())
    assert boards["data"] == {}


def test_settings_arrive_as_they_were_written(helm: Helm, tmp_path: Path) -> None:
    """Helm's own TOML writes 30 as 30.0, which is no whole number to us."""
    hostile = 'it\'s "quoted" {{ .Values }} \\ \t é 雪 <&> #'
    settings_given: dict[str, Json] = {
        "brain": {
            "profiles": 2_000_000_000,
            "session_s": 90.5,
            "server_names": hostile,
            "profile_bytes": 1 << 34,
        },
        "admission": {"strict": True, "spool_bytes": 1048576},
        "mount": {"kubelet_root": "/srv/kubelet"},
    }
    given = {"settings": {"log_level": "debug"} | settings_given}
    found = told(helm.template(CHART, values(tmp_path, given)))
    assert found["log_level"] == "debug"
    for role in ("brain", "admission", "mount"):
        wanted = settings_given[role]
        assert found[role].items() >= wanted.items()
        for name, value in wanted.items():
            assert type(found[role][name]) is type(value), name
    file = found | {"brain": found["brain"] | {"server_names": "", "profiles": 20}}
    settings.resolve(BrainSettings, file=file, environment={}, flags={})
    settings.resolve(AdmissionSettings, file=file, environment={}, flags={})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"settings": {"brain": {"profilez": 1}}}, "profilez"),
        ({"settings": {"brain": {"profiles": "many"}}}, "profiles"),
        ({"credentials": {"enabled": "false"}}, "enabled"),
        ({"credential": {"enabled": False}}, "credential"),
        ({"vault": {"address": ""}}, "vault.address"),
        ({"images": {"agent": {"tagg": "1"}}}, "tagg"),
        ({"resources": {"brain": {"limits": {"memory": "lots"}}}}, "memory"),
        ({"metrics": {"podMonitor": {"enabled": True}}}, "metrics.enabled"),
    ],
)
def test_a_value_that_nothing_reads_is_refused(
    helm: Helm, tmp_path: Path, given: Json, said: str
) -> None:
    with pytest.raises(HelmError, match=re.escape(said)):
        helm.template(CHART, values(tmp_path, given))


def test_another_namespace_is_refused(helm: Helm) -> None:
    with pytest.raises(HelmError, match="--namespace nemutator"):
        helm.run("template", "nemutator", CHART, "--namespace=elsewhere")


def test_what_depends_on_the_cluster_is_taken_from_it(helm: Helm, tmp_path: Path) -> None:
    given = {
        "kubeletRoot": "/var/lib/k0s/kubelet",
        "images": {"registry": "registry.example", "agent": {"digest": "sha256:" + "0" * 64}},
        "imagePullSecrets": [{"name": "pull"}],
        "resources": {"brain": {"limits": {"memory": "4Gi"}}},
        "extraEnv": [{"name": "HTTPS_PROXY", "value": "http://proxy:3128"}],
        "brain": {"storage": {"size": "20Gi", "className": "fast"}, "nodeSelector": {"a": "b"}},
        "priorityClasses": False,
        "vault": {"ca": "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n"},
    }
    old = helm.template(CHART, values(tmp_path, given), "--kube-version=1.34.2")
    found = containers(old)
    text = json.dumps(old)
    assert "/var/lib/kubelet" not in text
    assert told(old)["mount"]["kubelet_root"] == "/var/lib/k0s/kubelet"
    assert told(old)["credentials"]["vault_ca_file"] == "/etc/nemutator/vault-ca.crt"
    assert found["mount"]["image"] == f"registry.example/nemutator/agent@sha256:{'0' * 64}"
    assert told(old)["admission"]["init_image"] == found["mount"]["image"]
    assert found["brain"]["image"] == "registry.example/nemutator/controller:0.1.0"
    assert found["brain"]["resources"] == {"limits": {"memory": "4Gi"}}
    assert all(
        {"name": "HTTPS_PROXY", "value": "http://proxy:3128"} in each["env"]
        for each in found.values()
    )
    workloads = [each for each in old if each["kind"] in {"DaemonSet", "Deployment", "StatefulSet"}]
    assert "priorityClassName" not in json.dumps(workloads)
    assert "serviceAccountTokenInSecrets" not in text
    (brain,) = (each for each in old if each["kind"] == "StatefulSet")
    (claim,) = brain["spec"]["volumeClaimTemplates"]
    assert claim["spec"]["storageClassName"] == "fast"
    assert claim["spec"]["resources"] == {"requests": {"storage": "20Gi"}}
    assert brain["spec"]["template"]["spec"]["imagePullSecrets"] == [{"name": "pull"}]
    assert brain["spec"]["template"]["spec"]["nodeSelector"] == {"a": "b"}


def test_another_setting_makes_the_pods_anew(helm: Helm) -> None:
    def checksums(*arguments: str) -> set[str]:
        return {
            each["spec"]["template"]["metadata"]["annotations"]["checksum/settings"]
            for each in helm.template(CHART, *arguments)
            if "template" in each.get("spec", {})
        }

    (before,), (after,) = checksums(), checksums("--set=settings.brain.profiles=7")
    assert before != after
