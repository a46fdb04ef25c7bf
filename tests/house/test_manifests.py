"""What deploy/ promises of every process: probes that reach it, and ports that a policy guards."""

import re
import tomllib
from collections.abc import Iterator
from typing import Any

import yaml
from nemutator_common.settings import fields
from nemutator_controller.settings.admission import AdmissionSettings

from tests.house.tree import REPOSITORY

MANIFESTS = REPOSITORY / "deploy" / "manifests"
WORKLOADS = {"Deployment", "DaemonSet", "StatefulSet"}
ROLES = {"mount", "credentials", "observe", "admission", "brain"}

Json = dict[str, Any]


def documents(*kinds: str) -> Iterator[Json]:
    for path in sorted(MANIFESTS.glob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            if document["kind"] in kinds:
                yield document


def containers() -> dict[str, Json]:
    """By the role of their process."""
    specs = [workload["spec"]["template"]["spec"] for workload in documents(*WORKLOADS)]
    return {each["name"]: each for spec in specs for each in spec["containers"]}


def test_each_process_is_probed_on_its_own_socket() -> None:
    found = containers()
    assert set(found) == ROLES
    for role, container in found.items():
        (directory,) = (
            argument.removeprefix("--data-dir=")
            for argument in container["args"]
            if argument.startswith("--data-dir=")
        )
        for kind, operation in (
            ("startupProbe", "healthz"),
            ("livenessProbe", "healthz"),
            ("readinessProbe", "readyz"),
        ):
            probe = container[kind]
            if "exec" in probe:
                command = ["nemutator-probe", operation, f"{directory}/{role}.sock"]
                assert probe["exec"]["command"] == command, (role, kind)
            else:
                assert (role, kind) == ("brain", "readinessProbe")


def test_a_slow_process_is_not_killed() -> None:
    """It has two minutes to answer one question, and five to start."""
    for role, container in containers().items():
        starting, living = container["startupProbe"], container["livenessProbe"]
        assert starting["periodSeconds"] * starting["failureThreshold"] >= 300, role
        assert living["periodSeconds"] * living["failureThreshold"] >= 120, role
        assert living["timeoutSeconds"] >= 10, role


def test_credentials_reaches_nothing_that_makes_mount_act() -> None:
    """Kubelet's socket of the driver and the records of volumes make a privileged process mount and
    unmount. Credentials may write in each volume, and not where the volumes are."""
    (agent,) = documents("DaemonSet")
    found = agent["spec"]["template"]["spec"]
    places = {volume["name"]: volume.get("hostPath", {}).get("path") for volume in found["volumes"]}
    (credentials,) = (each for each in found["containers"] if each["name"] == "credentials")
    seen = {
        mount["mountPath"]: mount.get("readOnly", False)
        for mount in credentials["volumeMounts"]
        if (place := places[mount["name"]]) and mount["mountPath"] == place
    }
    assert seen == {
        "/run/nemutator-agent/credentials": False,
        "/var/lib/kubelet/plugins/agent.nemutator.io/volumes": True,
    }
    elsewhere = {mount["name"] for mount in credentials["volumeMounts"] if places[mount["name"]]}
    assert elsewhere == {"credentials", "volumes"}


def test_an_old_admission_leaves_after_the_new_one_answers() -> None:
    (admission,) = documents("Deployment")
    assert admission["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}
    (container,) = admission["spec"]["template"]["spec"]["containers"]
    assert container["lifecycle"]["preStop"]["sleep"]["seconds"] >= 5


def test_an_api_server_that_asks_again_reaches_the_same_replica_of_admission() -> None:
    services = {each["metadata"]["name"]: each["spec"] for each in documents("Service")}
    assert services["nemutator-admission"]["sessionAffinity"] == "ClientIP"


def test_each_policy_opens_the_ports_of_its_pods_and_names_who_may_scrape() -> None:
    ports = {
        workload["metadata"]["name"]: {
            port["name"]
            for container in workload["spec"]["template"]["spec"]["containers"]
            for port in container.get("ports", ())
        }
        for workload in documents(*WORKLOADS)
    }
    policies = {policy["metadata"]["name"]: policy["spec"] for policy in documents("NetworkPolicy")}
    assert set(policies) == set(ports)
    for name, spec in policies.items():
        opened = {port["port"]: rule for rule in spec["ingress"] for port in rule["ports"]}
        assert set(opened) == ports[name]
        assert all("from" in rule for port, rule in opened.items() if port.startswith("metrics-"))


def test_the_documented_settings_listen_on_the_ports_of_the_pods() -> None:
    text = (REPOSITORY / "docs" / "install.md").read_text()
    (block,) = [
        each for each in re.findall(r"```toml\n(.*?)```", text, re.DOTALL) if "metrics" in each
    ]
    settings = tomllib.loads(block)
    assert set(settings) == ROLES
    for role, container in containers().items():
        (port,) = (
            port["containerPort"]
            for port in container["ports"]
            if port["name"].startswith("metrics-")
        )
        assert settings[role] == {"metrics": f"0.0.0.0:{port}"}


def test_a_further_process_of_admission_is_as_the_first_but_for_what_is_its_own() -> None:
    text = (REPOSITORY / "docs" / "install.md").read_text()
    (block,) = [each for each in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "-2" in each]
    (further,) = yaml.safe_load(block)
    first = containers()["admission"]
    assert further["image"] == first["image"]
    assert further["args"][:3] == first["args"][:3]
    given = dict(each.split("=", 1) for each in further["args"][2:])
    known = {field.flag for field in fields(AdmissionSettings)} | {"--config"}
    assert given.keys() <= known
    assert f"--data-dir={given['--data-dir']}" not in first["args"]
    (room,) = (each["mountPath"] for each in first["volumeMounts"] if each["name"] == "spool")
    assert given["--siblings"].startswith(f"{room}/")
    assert given["--data-dir"].startswith(f"{room}/")
